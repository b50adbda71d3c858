#include "weyl/train/preflight/data_checks.h"

#include <gtest/gtest.h>

#include "tests/train/small_training.h"

namespace weyl {
namespace frame_checks_test {

TEST(FrameChecks, CountTrainingSamplesOnceWhereSplitsAreTheSameSet) {
  Batch all = dynamic_cast<const InMemory&>(*small_set(20, 1)).all();
  auto& points = std::get<Points>(all.input);
  points.positions = points.positions.clone();
  points.positions.slice(0, 0, points.graphs.size(0)).slice(1, 1, 3).zero_();  // on a line
  const auto set = std::make_shared<InMemory>(all, small_set(20, 1)->schema());
  Recipe recipe = small_recipe();
  recipe.model.frames = FrameMethod::average;
  const std::string line = check_axes(small_model(recipe, {set, {}, {}}), {set, set, set});
  EXPECT_NE(line.find("1 of 20 training samples"), std::string::npos) << line;
}

}  // namespace frame_checks_test
}  // namespace weyl
