#include "weyl/app/terminal/shown_metrics.h"

#include <gtest/gtest.h>

namespace weyl {
namespace shown_metrics_test {

using Names = std::vector<std::string>;

TEST(ShownMetrics, HeadlineFirstThenItsKindThenTheRest) {
  const Names names{"energy_mae", "energy_rmse", "forces_cosine", "forces_mae", "stress_mae"};
  EXPECT_EQ(shown_metrics(names, {"forces_mae"}), (Names{"forces_mae", "energy_mae", "stress_mae"}));
  EXPECT_EQ(shown_metrics(names, {}, 2), (Names{"energy_mae", "energy_rmse"}));
}

TEST(ShownMetrics, AllTermsOfASumFirst) {
  const Names names{"energy_mae", "energy_rmse", "forces_mae"};
  EXPECT_EQ(shown_metrics(names, {"forces_mae", "energy_rmse"}),
            (Names{"forces_mae", "energy_rmse", "energy_mae"}));
}

TEST(ShownMetrics, PartsOfAnotherComeLast) {
  EXPECT_EQ(shown_metrics({"dice", "dice_core", "dice_rim", "iou"}, {"iou"}),
            (Names{"iou", "dice", "dice_core"}));
}

TEST(ShownMetrics, SharesAreToldByTheirNames) {
  for (const char* share : {"accuracy", "accuracy_cat", "balanced_accuracy", "dice", "dice_pooled_core",
                            "iou_rim", "force_cosine", "flanking_accuracy"}) {
    EXPECT_TRUE(is_share(share)) << share;
  }
  for (const char* other :
       {"mse", "cross_entropy", "inaccuracy", "relative_error", "dices_mae", "outside_chart"}) {
    EXPECT_FALSE(is_share(other)) << other;
  }
}

TEST(ShownMetrics, OfFewAllAndOfNoneNone) {
  EXPECT_EQ(shown_metrics({"mse"}, {"mae"}), Names{"mse"});
  EXPECT_EQ(shown_metrics({}, {"mae"}), Names{});
}

}  // namespace shown_metrics_test
}  // namespace weyl
