// Random changes of grids: what they leave as it is, what they are a function of, and turns against the exact ones.
#include "weyl/carriers/augmented_grid.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "tests/carriers/loader_sets.h"
#include "weyl/carriers/motion.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace augmented_grid_test {

Schema schema_of_masks(int64_t dimension) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.dimension = dimension;
  schema.interface.features = {{.name = "a"}, {.name = "b"}};
  schema.labels = {{.name = "mask", .kind = Kind::category},
                   {.name = "depth", .kind = Kind::scalar},
                   {.name = "class", .level = Level::graph, .kind = Kind::category}};
  return schema;
}

/// One grid of two channels of random values, with a mask of classes 0, 1 and 4.
Batch random_grid(std::vector<int64_t> cells, std::array<double, 3> spacing = {1, 1, 1}) {
  std::vector<int64_t> shape{1, 2};
  shape.insert(shape.end(), cells.begin(), cells.end());
  Stream stream(1, "grid");
  Tensor values = at::empty(shape, at::kFloat), mask = at::empty_like(values.narrow(1, 0, 1), at::kLong);
  mask = mask.contiguous();
  for (int64_t i = 0; i < values.numel(); ++i) {
    values.mutable_data_ptr<float>()[i] = static_cast<float>(stream.normal());
  }
  for (int64_t i = 0; i < mask.numel(); ++i) {
    const int64_t classes[] = {0, 1, 4};
    mask.mutable_data_ptr<int64_t>()[i] = classes[stream.below(3)];
  }
  return {Grid{values, spacing},
          {{"mask", mask}, {"depth", values.narrow(1, 0, 1).to(at::kDouble)}, {"class", at::tensor({3})}}};
}

Crop whole_of(const Batch& batch) {
  const auto cells = values_of(batch).sizes().slice(2);
  return {std::vector<int64_t>(cells.size()), cells.vec()};
}

void expect_same(const Batch& a, const Batch& b) {
  EXPECT_TRUE(values_of(a).equal(values_of(b)));
  for (const auto& [name, label] : a.labels) {
    EXPECT_TRUE(label.equal(b.labels.at(name))) << name;
  }
}

GridAugmentation all_of_them(double probability) {
  GridAugmentation o;
  o.rotation.emplace().probability = probability;
  o.scale.emplace().probability = probability;
  o.elastic.emplace().probability = probability;
  o.mirror.emplace().probability = probability;
  o.noise.emplace().probability = probability;
  o.blur.emplace().probability = probability;
  o.brightness.emplace().probability = probability;
  o.contrast.emplace().probability = probability;
  o.low_resolution.emplace().probability = probability;
  o.gamma.emplace().probability = probability;
  return o;
}

TEST(AugmentedGrid, NothingDrawnChangesNoBit) {
  for (const std::vector<int64_t>& cells : {std::vector<int64_t>{6, 5}, {5, 4, 6}}) {
    const Batch grid = random_grid(cells);
    const Schema schema = schema_of_masks(static_cast<int64_t>(cells.size()));
    expect_same(augmented_grid(grid, whole_of(grid), all_of_them(0), schema, {3, 1}, 7), grid);
    // Nor do changes that are none.
    GridAugmentation none;
    none.rotation = {.degrees = 0, .probability = 1};
    none.elastic = {.deviation = 0, .probability = 1};
    none.scale.emplace();
    none.scale->low = none.scale->high = none.scale->probability = 1;
    none.noise = {.deviation = 0, .probability = 1};
    expect_same(augmented_grid(grid, whole_of(grid), none, schema, {3, 1}, 7), grid);
    const Crop part{std::vector<int64_t>(cells.size(), 1), std::vector<int64_t>(cells.size(), 3)};
    expect_same(augmented_grid(grid, part, none, schema, {3, 1}, 7), cropped(grid, part, schema));
  }
}

TEST(AugmentedGrid, IsAFunctionOfSeedEpochAndSample) {
  const Batch grid = random_grid({8, 7, 6});
  const Schema schema = schema_of_masks(3);
  const Batch before{std::get<Grid>(grid.input), grid.labels};
  const Tensor kept = values_of(grid).clone();
  const auto made = [&](Draw draw, int64_t sample) {
    return values_of(augmented_grid(grid, whole_of(grid), all_of_them(1), schema, draw, sample));
  };
  EXPECT_TRUE(made({3, 1}, 7).equal(made({3, 1}, 7)));
  EXPECT_FALSE(made({3, 1}, 7).equal(made({3, 1}, 8)));
  EXPECT_FALSE(made({3, 1}, 7).equal(made({3, 2}, 7)));
  EXPECT_FALSE(made({3, 1}, 7).equal(made({4, 1}, 7)));
  EXPECT_TRUE(at::isfinite(made({3, 1}, 7)).all().item<bool>());
  EXPECT_TRUE(values_of(grid).equal(kept));  // which others may hold
}

TEST(AugmentedGrid, OneChangeDoesNotShiftTheDrawsOfAnother) {
  const Batch grid = random_grid({8, 7, 6});
  const Schema schema = schema_of_masks(3);
  GridAugmentation noise, both;
  noise.noise = both.noise = GridNoise{.deviation = 0.5, .probability = 1};
  both.mirror.emplace().probability = 0;
  expect_same(augmented_grid(grid, whole_of(grid), noise, schema, {3, 1}, 7),
              augmented_grid(grid, whole_of(grid), both, schema, {3, 1}, 7));
}

TEST(AugmentedGrid, ATurnByAQuarterIsTheExactOne) {
  for (const int64_t d : {2, 3}) {
    const Batch grid = random_grid(std::vector<int64_t>(static_cast<size_t>(d), 7), {2, 2, 2});
    const Schema schema = schema_of_masks(d);
    // x -> y -> -x, in the last two axes of three
    std::array<double, 9> turn{
        1, 0, 0, 0, std::cos(std::numbers::pi / 2), -1, 0, 1, std::cos(std::numbers::pi / 2)};
    GridMap map;
    map.back = {turn[0], turn[3], turn[6], turn[1], turn[4], turn[7], turn[2], turn[5], turn[8]};
    Tensor linear = at::zeros({1, d, d}, at::kDouble);
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        linear[0][i][j].fill_(std::round(turn[static_cast<size_t>(3 * (3 - d + i) + 3 - d + j)]));
      }
    }
    const Batch exact = transform(grid, {linear, {}}, schema);
    expect_same(mapped_grid(grid, whole_of(grid), map, schema), exact);
    EXPECT_FALSE(values_of(exact).equal(values_of(grid)));
  }
}

TEST(AugmentedGrid, TurnsAreOfTheUnitOfLengthNotOfCells) {
  // Along the first axis cells lie twice as far apart: a quarter turn about the third brings every second cell of one axis
  // onto those of the other.
  Batch grid = random_grid({5, 9, 4}, {2, 1, 3});
  GridMap map;
  map.back = {0, 1, 0, -1, 0, 0, 0, 0, 1};
  const Batch turned = mapped_grid(grid, whole_of(grid), map, schema_of_masks(3));
  const Tensor before = values_of(grid)[0][1], after = values_of(turned)[0][1];
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 9; j += 2) {  // at (2 (i - 2), j - 4) from the middle, from (j - 4, -2 (i - 2))
      const int64_t from_i = j / 2, from_j = 4 - 2 * (i - 2);
      EXPECT_TRUE(after[i][j].equal(before[from_i][from_j])) << i << " " << j;
    }
  }
}

TEST(AugmentedGrid, MasksStayClassesAndFollowTheirImage) {
  // A ball whose values are its class: turned by any angle the two agree wherever interpolation is not between them.
  const int64_t n = 21;
  Tensor mask = at::zeros({1, 1, n, n, n}, at::kLong);
  for (int64_t i = 0; i < n * n * n; ++i) {
    const double x = static_cast<double>(i / (n * n)) - 13, y = static_cast<double>(i / n % n) - 8,
                 z = static_cast<double>(i % n) - 10;
    mask.mutable_data_ptr<int64_t>()[i] = x * x + y * y + z * z < 30 ? 5 : 0;
  }
  Schema schema = schema_of_masks(3);
  schema.interface.features = {{.name = "a"}};
  schema.labels = {{.name = "mask", .kind = Kind::category}};
  const Batch grid{Grid{mask.to(at::kFloat)}, {{"mask", mask}}};
  GridAugmentation o;
  o.rotation = {.degrees = 180, .probability = 1};
  o.scale.emplace().probability = 1;
  o.elastic.emplace().probability = 1;
  o.mirror.emplace().probability = 1;
  std::set<int64_t> sizes;
  for (int64_t sample = 0; sample < 6; ++sample) {
    const Batch made = augmented_grid(grid, whole_of(grid), o, schema, {1, 0}, sample);
    const Tensor classes = made.labels.at("mask"), values = values_of(made);
    EXPECT_TRUE(classes.eq(0).logical_or(classes.eq(5)).all().item<bool>());
    EXPECT_EQ(classes.scalar_type(), at::kLong);
    // The class is that of most of the weight.
    EXPECT_TRUE(values.gt(2.5001).logical_and(classes.eq(0)).any().item<bool>() == false);
    EXPECT_TRUE(values.lt(2.4999).logical_and(classes.eq(5)).any().item<bool>() == false);
    EXPECT_TRUE(made.labels.at("mask").ne(mask).any().item<bool>());
    sizes.insert(classes.eq(5).sum().item<int64_t>());
  }
  EXPECT_GT(sizes.size(), 3U);
}

TEST(AugmentedGrid, ACropIsTurnedIntoItFromBeyondIt) {
  // All ones: whatever is turned into the crop from the grid is one; without the grid around it corners would be 0.
  Batch grid = random_grid({15, 15, 15});
  values_of(grid).fill_(1);
  GridAugmentation o;
  o.rotation = {.degrees = 180, .probability = 1};
  const Crop part{{5, 5, 5}, {5, 5, 5}};
  for (int64_t sample = 0; sample < 5; ++sample) {
    const Tensor inside = values_of(augmented_grid(grid, part, o, schema_of_masks(3), {1, 0}, sample));
    EXPECT_NEAR(inside.min().item<double>(), 1, 1e-6);
    const Tensor all = values_of(augmented_grid(grid, whole_of(grid), o, schema_of_masks(3), {1, 0}, sample));
    EXPECT_EQ(all.min().item<double>(), 0);  // outside of the grid
  }
}

TEST(AugmentedGrid, MirrorsTheAxesThatAreNamed) {
  const Batch grid = random_grid({5, 4, 3});
  GridAugmentation o;
  o.mirror = {.axes = {0, 2}, .probability = 1};
  const Batch made = augmented_grid(grid, whole_of(grid), o, schema_of_masks(3), {1, 0}, 2);
  EXPECT_TRUE(values_of(made).equal(values_of(grid).flip({2, 4})));
  EXPECT_TRUE(made.labels.at("mask").equal(grid.labels.at("mask").flip({2, 4})));
  EXPECT_TRUE(made.labels.at("class").equal(grid.labels.at("class")));
}

TEST(AugmentedGrid, ColoursLeaveLabelsAndKeepWhatTheySay) {
  const Batch grid = random_grid({9, 8, 7});
  const Schema schema = schema_of_masks(3);
  const auto changed = [&](const GridAugmentation& o) {
    const Batch made = augmented_grid(grid, whole_of(grid), o, schema, {1, 0}, 2);
    EXPECT_TRUE(made.labels.at("mask").equal(grid.labels.at("mask")));
    EXPECT_FALSE(values_of(made).equal(values_of(grid)));
    return values_of(made).to(at::kDouble);
  };
  const Tensor before = values_of(grid).to(at::kDouble);
  GridAugmentation gamma, brightness, contrast, noise, blur, low;
  gamma.gamma.emplace().probability = 1;
  Tensor after = changed(gamma);
  for (int64_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(after[0][c].mean().item<double>(), before[0][c].mean().item<double>(), 1e-6);
    EXPECT_NEAR(after[0][c].var(false).item<double>(), before[0][c].var(false).item<double>(), 1e-5);
  }
  brightness.brightness.emplace().probability = 1;
  const Tensor ratio = changed(brightness) / before;
  EXPECT_NEAR(ratio[0][0].min().item<double>(), ratio[0][0].max().item<double>(), 1e-5);
  EXPECT_GT(std::abs(ratio[0][0][0][0][0].item<double>() - ratio[0][1][0][0][0].item<double>()), 1e-3);
  contrast.contrast.emplace().probability = 1;
  after = changed(contrast);
  EXPECT_GE(after.min().item<double>(), before.min().item<double>() - 1e-6);
  EXPECT_LE(after.max().item<double>(), before.max().item<double>() + 1e-6);
  noise.noise = {.deviation = 0.3, .probability = 1};
  EXPECT_LT((changed(noise) - before).square().mean().sqrt().item<double>(), 0.35);
  blur.blur.emplace().probability = 1;
  EXPECT_LT(changed(blur).var(false).item<double>(), 0.8 * before.var(false).item<double>());
  low.low_resolution.emplace().probability = 1;
  low.low_resolution->high = 0.5;
  EXPECT_LT(changed(low).var(false).item<double>(), 0.9 * before.var(false).item<double>());
}

TEST(AugmentedGrid, ConstantChannelsStayFinite) {
  Batch grid = random_grid({4, 4, 4});
  values_of(grid).fill_(2);
  const Tensor made =
      values_of(augmented_grid(grid, whole_of(grid), all_of_them(1), schema_of_masks(3), {1, 0}, 2));
  EXPECT_TRUE(at::isfinite(made).all().item<bool>());
}

TEST(AugmentedGrid, BeginsWithWhatTheSetIs) {
  Schema vectors = schema_of_masks(3);
  vectors.interface.features = {{.name = "velocity", .kind = Kind::vector}};
  EXPECT_THROW(require_grid_augmentation(all_of_them(1), vectors), ConfigError);
  EXPECT_NO_THROW(require_grid_augmentation({}, vectors));
  GridAugmentation third;
  third.mirror = {.axes = {2}};
  EXPECT_THROW(require_grid_augmentation(third, schema_of_masks(2)), ConfigError);
  EXPECT_NO_THROW(require_grid_augmentation(third, schema_of_masks(3)));
  GridAugmentation about;
  about.rotation = {.axis = TurnAxis::x};
  EXPECT_THROW(require_grid_augmentation(about, schema_of_masks(2)), ConfigError);
  EXPECT_THROW(Loader(rich_set(), {.grids = all_of_them(1)}, 1), ConfigError);
  GridAugmentation disordered;
  disordered.gamma.emplace().low = 3;
  EXPECT_THROW(check(disordered, "train.grids"), ConfigError);
}

TEST(Loader, ChangesGridsTheSameInEveryBatchAndByAnyNumberOfThreads) {
  const auto set = images(23, 6, 8);
  const LoaderOptions one{.batch = 5, .crop = {4, 5}, .grids = all_of_them(0.5), .dtype = at::kDouble};
  LoaderOptions many = one;
  many.threads = 4;
  Loader a(set, one, 3), b(set, many, 3);
  expect_equal(all_of(a, 2), all_of(b, 2));
  const auto plan = a.plan(2).all();
  const auto batches = all_of(a, 2);
  for (size_t i = 0; i < plan.size(); ++i) {
    for (size_t j = 0; j < plan[i].size(); ++j) {
      EXPECT_TRUE(values_of(a.alone(2, plan[i][j]))[0].equal(values_of(batches[i])[static_cast<int64_t>(j)]));
    }
  }
  EXPECT_GT(difference(all_of(a, 3)[0], batches[0]), 0);
}

TEST(Loader, RandomChangesOfLargeGridsDoNotDependOnTheNumberOfThreads) {
  // More cells than LibTorch leaves to one thread, and a number that no vector divides.
  const auto set = images(2, 311, 331);
  const int before = at::get_num_threads();
  const auto with = [&](int threads) {
    at::set_num_threads(threads);
    Loader loader(set, {.batch = 1, .grids = all_of_them(1), .dtype = at::kDouble}, 3);
    return all_of(loader, 1);
  };
  const auto one = with(1);
  for (const int threads : {2, 3, 5}) {
    expect_equal(with(threads), one);
  }
  at::set_num_threads(before);
}

}  // namespace augmented_grid_test
}  // namespace weyl
