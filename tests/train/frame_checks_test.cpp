#include "weyl/train/preflight/data_checks.h"

#include <gtest/gtest.h>

#include "tests/predict/potentials.h"
#include "tests/train/small_training.h"
#include "weyl/core/check.h"

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

// Every validation would refuse such a sample, the first of them after an epoch.
TEST(MeasuredSamples, OfElementsThatNoTrainingSampleHasEndATrainingBeforeItBegins) {
  Batch all = set()->all();
  Tensor& types = std::get<Points>(all.input).types;
  const auto of_types = [&](int64_t last) {
    types = at::arange(13).remainder(2);
    types[12].fill_(last);
    return std::make_shared<InMemory>(all, atoms());
  };
  const auto known = of_types(1), unknown = of_types(2);
  const SavedModel saved = potential("painn", *known);
  EXPECT_EQ(check_measured(saved, {known, known, known}), "");
  const std::string said =
      "data: sample 3: force_field: a node is of type 2 (O), of which the training data had none";
  EXPECT_EQ(check_measured(saved, {known, known, unknown}), "test " + said + "; `weyl eval` will refuse it");
  try {
    check_measured(saved, {known, unknown, known});
    ADD_FAILURE() << "not refused";
  } catch (const DataError& error) {
    EXPECT_EQ(error.what(), "validation " + said);
  }
}

}  // namespace frame_checks_test
}  // namespace weyl
