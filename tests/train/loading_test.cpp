// What training and evaluation make of samples that are far from the origin.
#include "weyl/train/loop/loading.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "tests/train/small_training.h"
#include "weyl/carriers/loader.h"
#include "weyl/models/transformer/options.h"
#include "weyl/saved/evaluate.h"

namespace weyl {
namespace loading_test {

constexpr double kFar = 1e8;  // where float32's neighbours are 8 apart, float64's 1.5e-8

std::shared_ptr<const Dataset> moved(const Dataset& data, double by, at::ScalarType rounded = at::kDouble) {
  std::vector<int64_t> every(data.size());
  std::iota(every.begin(), every.end(), int64_t{0});
  Batch batch = data.batch(every);
  auto& points = std::get<Points>(batch.input);
  points.positions = (points.positions.to(at::kDouble) + by).to(rounded).to(at::kDouble);
  return std::make_shared<InMemory>(std::move(batch), data.schema());
}

/// A model that is exact under translations, or one that is not.
SavedModel model_of(bool exact) {
  Recipe recipe = small_recipe();
  recipe.model.system.get_if<transformer::Options>()->centre = exact;
  SavedModel saved = small_model(recipe, small_data());
  EXPECT_EQ(exact_under_translations(*saved.model), exact);
  EXPECT_EQ(saved.model->dtype(), at::kFloat);
  return saved;
}

/// The places that training sees, in the order of its batches.
Tensor places(const std::shared_ptr<const Dataset>& data, const SavedModel& saved) {
  TrainOptions options = small_recipe().train;
  options.augment = Augmentation::none;
  Loader loader(data, loader_options(options, *saved.model), 3);
  loader.start(0);
  std::vector<Tensor> parts;
  while (const auto batch = loader.next()) {
    parts.push_back(std::get<Points>(batch->input).positions.to(at::kDouble));
  }
  return at::cat(parts);
}

/// A model that is exact under what it claims.
struct Claims : PointsModel {
  explicit Claims(std::vector<Claim> claims) : PointsModel({}), exact(std::move(claims)) {}
  Named forward(const Points&) override { return {}; }
  Symmetry symmetry() const override { return {.exact = exact}; }
  Work work(double /*nodes*/) const override { return {}; }
  std::vector<Claim> exact;
};

/// A model that looks no farther than a cut-off.
struct LooksNear : Claims {
  LooksNear() : Claims({}) {}
  Work work(double nodes) const override { return Work::product(nodes); }
  std::optional<double> reach() const override { return 5.0; }
};

// Attention over all pairs costs more a token in a larger graph: a rank with one graph of 300 tokens must not get as many more
// as one with three of 100.
TEST(Loading, SamplesCostWhatTheModelDoesWithThem) {
  const SavedModel saved = model_of(true);
  const auto data = small_data().train;
  std::vector<int64_t> every(static_cast<size_t>(data->size())), tokens;
  std::iota(every.begin(), every.end(), int64_t{0});
  const std::vector<int64_t> work = work_of(every, *data, saved.model.get());
  ASSERT_EQ(work.size(), every.size());
  std::map<int64_t, int64_t> of_size;
  for (const int64_t i : every) {
    tokens.push_back(data->tokens(i));
    of_size[tokens.back()] = work[static_cast<size_t>(i)];
  }
  ASSERT_EQ(of_size.size(), 3U);
  EXPECT_EQ(of_size[4], std::llround(4 * saved.model->work_of_token(4).forward));
  EXPECT_GT(of_size[5] * 3, of_size[3] * 5) << "the pairs of the larger graph must count";
  EXPECT_EQ(work_of(every, *data, std::make_unique<LooksNear>().get()), tokens);
  EXPECT_EQ(work_of(every, *data, nullptr), std::vector<int64_t>(every.size(), 1));
}

TEST(Loading, AugmentationUnderWhichTheModelIsExactIsNoted) {
  const auto noted = [](const Model& model) {
    std::vector<bool> lines;
    for (const Augmentation augment : {Augmentation::none, Augmentation::rotations,
                                       Augmentation::rotoreflections, Augmentation::motions}) {
      TrainOptions options;
      options.augment = augment;
      lines.push_back(!note_on_augmentation(options, model).empty());
    }
    return lines;
  };
  const Claim permutations{}, rotations{.of = Claim::Of::rotations},
      rotoreflections{.of = Claim::Of::rotoreflections};
  EXPECT_EQ(noted(Claims({permutations})), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(noted(Claims({permutations, rotations})), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(noted(Claims({permutations, rotoreflections})), (std::vector<bool>{false, true, true, false}));
  TrainOptions options;
  options.augment = Augmentation::rotations;
  EXPECT_EQ(note_on_augmentation(options, Claims({rotations})),
            "train.augment = \"rotations\" has no effect: the model is exact under them by itself");
}

TEST(Loading, TrainingSeesFarSamplesAsThoseAtTheOrigin) {
  const auto here = small_set(20, 4), there = moved(*here, kFar);
  const SavedModel saved = model_of(true);
  EXPECT_LT((places(there, saved) - places(here, saved)).abs().max().item<double>(), 1e-6);
  // Where the origin matters samples stay.
  EXPECT_GT(places(there, model_of(false)).min().item<double>(), kFar / 2);
}

TEST(Loading, EvaluationMeasuresFarSamplesAsThoseAtTheOrigin) {
  const auto here = small_set(20, 4);
  const SavedModel saved = model_of(true);
  const auto mse = [&](const std::shared_ptr<const Dataset>& data) {
    return evaluate(*saved.model, *saved.task, data, {.batch = 8}).metrics.at("mse").value;
  };
  const double near = mse(here);
  EXPECT_NEAR(mse(moved(*here, kFar)), near, 1e-5 * near);
  // What rounding to float32 where they are would do.
  EXPECT_GT(std::abs(mse(moved(*here, kFar, at::kFloat)) - near), 1e-3 * near);
}

}  // namespace loading_test
}  // namespace weyl
