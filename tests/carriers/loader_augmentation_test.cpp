// What the loader draws for each sample: motions and crops.
#include <gtest/gtest.h>

#include <set>

#include "tests/carriers/loader_sets.h"
#include "weyl/carriers/motion.h"
#include "weyl/core/random.h"

namespace weyl {
namespace loader_augmentation_test {

TEST(Loader, AugmentationBelongsToTheSampleNotToItsBatch) {
  const auto set = rich_set();
  Loader small(set, {.batch = 2, .reflect = true, .dtype = at::kDouble}, 3);
  Loader large(set, {.batch = 11, .shuffle = false, .reflect = true, .dtype = at::kDouble}, 3);
  const auto batches = all_of(small, 6);
  const Batch all = all_of(large, 6)[0];
  const auto plan = small.plan(6).all();
  for (size_t b = 0; b < plan.size(); ++b) {
    EXPECT_LT(difference(batches[b], take(all, plan[b], set->schema())), 1e-14);
  }
  EXPECT_GT(difference(all, all_of(large, 7)[0]), 0.1);  // another epoch, another motion
  EXPECT_GT(difference(all, set->batch(plan[0])), 0.1);
  Stream stream(3, "augment", {6, 5});  // as documented
  const Motions motion = random_rotations(1, 3, true, stream);
  const std::vector<int64_t> five{5};
  EXPECT_LT(difference(transform(set->batch(five), motion, set->schema()), take(all, five, set->schema())),
            1e-14);
}

TEST(Loader, TurnsGridsByQuartersOfATurnTheSameInEveryBatch) {
  const auto set = images(96, 3, 3);
  const Tensor original = values_of(set->batch(std::vector<int64_t>{0}));
  for (const bool reflect : {false, true}) {
    Loader loader(set, {.batch = 5, .rotate = !reflect, .reflect = reflect, .dtype = at::kDouble}, 3);
    Loader alone(set, {.batch = 1, .rotate = !reflect, .reflect = reflect, .dtype = at::kDouble}, 3);
    std::set<std::vector<double>> seen;
    const auto plan = loader.plan(2).all();
    const auto batches = all_of(loader, 2);
    for (size_t b = 0; b < plan.size(); ++b) {
      const Tensor& values = values_of(batches[b]);
      EXPECT_TRUE(values.equal(batches[b].labels.at("mask").to(at::kDouble)));
      for (size_t i = 0; i < plan[b].size(); ++i) {
        const auto k = static_cast<int64_t>(i);
        EXPECT_TRUE(values_of(alone.alone(2, plan[b][i]))[0].equal(values[k]));
        const Tensor shape = (values[k] - 9.0 * static_cast<double>(plan[b][i])).flatten();
        seen.insert({shape.data_ptr<double>(), shape.data_ptr<double>() + 9});
      }
    }
    EXPECT_EQ(seen.size(), reflect ? 8U : 4U);
    EXPECT_TRUE(seen.contains({2, 5, 8, 1, 4, 7, 0, 3, 6}));         // a quarter turn
    EXPECT_EQ(seen.contains({2, 1, 0, 5, 4, 3, 8, 7, 6}), reflect);  // a mirror
    expect_equal(all_of(loader, 2), batches);
    EXPECT_GT(difference(all_of(loader, 3)[0], batches[0]), 0);
  }
  // an oblong image keeps its shape: half turns alone
  Loader oblong(images(12, 2, 3), {.batch = 12, .rotate = true, .dtype = at::kDouble}, 3);
  EXPECT_EQ(values_of(all_of(oblong, 0)[0]).sizes(), (at::IntArrayRef{12, 1, 2, 3}));
}

TEST(Loader, CropsEverySampleAtAPlaceOfItsOwn) {
  const auto set = images(20, 6, 8);
  Loader loader(set, {.batch = 20, .shuffle = false, .crop = {4, 3}, .dtype = at::kDouble}, 3);
  const Batch batch = all_of(loader, 0)[0];
  ASSERT_EQ(values_of(batch).sizes(), (at::IntArrayRef{20, 1, 4, 3}));
  EXPECT_TRUE(values_of(batch).equal(batch.labels.at("mask").to(at::kDouble)));
  std::set<double> places;
  for (int64_t b = 0; b < 20; ++b) {
    const auto first = values_of(batch)[b][0][0][0].item<double>() - 48.0 * static_cast<double>(b);
    const auto row = static_cast<int64_t>(first) / 8, column = static_cast<int64_t>(first) % 8;
    ASSERT_TRUE(row >= 0 && row <= 2 && column >= 0 && column <= 5) << first;
    const Tensor there = values_of(set->batch({&b, 1}))[0][0].narrow(0, row, 4).narrow(1, column, 3);
    EXPECT_TRUE(values_of(batch)[b][0].equal(there));
    places.insert(first);
  }
  EXPECT_GT(places.size(), 6U);
  EXPECT_GT(difference(all_of(loader, 1)[0], batch), 0);
  EXPECT_EQ(difference(all_of(loader, 0)[0], batch), 0);
}

TEST(Loader, CropsAroundTheForegroundWhenAsked) {
  Schema schema;
  schema.interface.grid = true;
  schema.interface.features = {{"grey"}};
  schema.labels = {{.name = "mask", .kind = Kind::category}};
  Tensor mask = at::zeros({60, 1, 9, 9, 9}, at::kLong);
  mask.select(2, 7).select(2, 1).select(2, 4).fill_(1);
  const auto set = std::make_shared<InMemory>(Batch{Grid{mask.to(at::kDouble)}, {{"mask", mask}}}, schema);
  const auto hits = [&](double share) {
    Loader loader(set, {.batch = 60, .crop = {3}, .crop_foreground = share}, 3);
    const Tensor crops = all_of(loader, 0)[0].labels.at("mask");
    EXPECT_EQ(crops.sizes(), (at::IntArrayRef{60, 1, 3, 3, 3}));
    return crops.sum().item<int64_t>();
  };
  EXPECT_EQ(hits(1), 60);
  EXPECT_LT(hits(0), 20);  // 12 cells of 7^3 places
  EXPECT_GT(hits(0.5), 20);
  EXPECT_LT(hits(0.5), 50);
}

TEST(Loader, ACropLargerThanTheGridPutsItInTheMiddleOfZeros) {
  const auto set = images(2, 2, 3);
  Loader loader(set, {.batch = 2, .shuffle = false, .crop = {4}, .dtype = at::kDouble}, 3);
  const Tensor values = values_of(all_of(loader, 0)[0]);
  EXPECT_TRUE(
      values.narrow(2, 1, 2).narrow(3, 0, 3).equal(values_of(set->batch(std::vector<int64_t>{0, 1}))));
  EXPECT_EQ(values.sum().item<double>(), 66);
}

TEST(Loader, TurnsGridsWhoseSpacingsDifferByRoundingOnly) {
  const auto turns = [](double across) {
    const Grid grid{at::zeros({1, 1, 3, 3}), {1, across, 1}};
    int64_t quarter = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      Stream stream(seed, "turns");
      double r[4];
      draw_quarter_turns(grid, false, stream, r);
      quarter += std::abs(r[1]) > 0.5 ? 1 : 0;
    }
    return quarter;
  };
  EXPECT_GT(turns(1 + 1e-8), 8);
  EXPECT_EQ(turns(1.5), 0);
  // and a batch whose rows turn differently can be moved
  const Grid grid{at::arange(18, at::kDouble).view({2, 1, 3, 3}), {1, 1 + 1e-8, 1}};
  const Tensor linear = at::tensor({1., 0., 0., 1., 0., -1., 1., 0.}).view({2, 2, 2}).to(at::kDouble);
  Interface interface;
  interface.dimension = 2;
  interface.features = {{"grey"}};
  const Grid moved = moved_grid(grid, {linear, {}}, interface);
  EXPECT_TRUE(moved.values[0].equal(grid.values[0]));
  EXPECT_FALSE(moved.values[1].equal(grid.values[1]));
}

}  // namespace loader_augmentation_test
}  // namespace weyl
