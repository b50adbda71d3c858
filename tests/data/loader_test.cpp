#include "weyl/data/loader.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <thread>

#include "tests/data/fixtures.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/motion.h"

namespace weyl {
namespace {

std::shared_ptr<const Dataset> rich_set() {
  return std::make_shared<InMemory>(rich_batch({3, 1, 4, 2, 5, 1, 2, 3, 6, 1, 2}), rich_schema());
}

/// Images whose cells all differ, with a mask that is the image itself.
std::shared_ptr<const Dataset> images(int64_t count, int64_t height, int64_t width) {
  Schema grid;
  grid.carrier = Carrier::grid;
  grid.interface.dimension = 2;
  grid.interface.features = {{"grey"}};
  grid.labels = {{.name = "mask", .kind = Kind::category}};
  const Tensor cells = at::arange(count * height * width).view({count, 1, height, width});
  return std::make_shared<InMemory>(Batch{Grid{cells.to(at::kDouble), {}}, {{"mask", cells}}}, grid);
}

std::vector<Batch> all_of(Loader& loader, int64_t epoch, int64_t first = 0) {
  std::vector<Batch> batches;
  loader.start(epoch, first);
  while (auto batch = loader.next()) {
    batches.push_back(std::move(*batch));
  }
  return batches;
}

void expect_equal(const std::vector<Batch>& a, const std::vector<Batch>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(difference(a[i], b[i]), 0) << "batch " << i;
  }
}

/// Throws on one sample, as a broken record on a disk would.
class Broken : public InMemory {
 public:
  using InMemory::InMemory;
  Batch batch(std::span<const int64_t> indices) const override {
    if (std::count(indices.begin(), indices.end(), 4) > 0) {
      throw DataError("record 4: broken");
    }
    return InMemory::batch(indices);
  }
};

TEST(Loader, ShowsEverySampleOnceAnEpoch) {
  for (const auto tokens : {std::optional<int64_t>(), std::optional<int64_t>(7)}) {
    Loader loader(rich_set(), {.batch = 4, .batch_tokens = tokens}, 1);
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      std::vector<int64_t> seen;
      for (const auto& batch : loader.plan(epoch)) {
        EXPECT_FALSE(batch.empty());
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      std::vector<int64_t> every(11);
      std::iota(every.begin(), every.end(), 0);
      EXPECT_EQ(seen, every);
    }
  }
}

TEST(Loader, KeepsTheLastIncompleteBatch) {
  Loader loader(rich_set(), {.batch = 4}, 1);
  const auto batches = all_of(loader, 0);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].count(), 4);
  EXPECT_EQ(batches[2].count(), 3);
}

TEST(Loader, FillsBatchesToTheTokenBudget) {
  const auto set = rich_set();
  Loader loader(set, {.batch_tokens = 7}, 1);
  const auto plan = loader.plan(0);
  for (size_t b = 0; b < plan.size(); ++b) {
    int64_t tokens = 0;
    for (const int64_t s : plan[b]) tokens += set->tokens(s);
    EXPECT_LE(tokens, 7);
    if (b + 1 < plan.size()) {
      EXPECT_GT(tokens + set->tokens(plan[b + 1][0]), 7);  // the next one did not fit
    }
  }
  Loader small(set, {.batch_tokens = 1}, 1);  // larger samples still come, alone
  EXPECT_EQ(small.plan(0).size(), 11u);
}

TEST(Loader, OrderIsAFunctionOfSeedAndEpochAlone) {
  Loader a(rich_set(), {.batch = 4}, 1), b(rich_set(), {.batch = 4}, 1), c(rich_set(), {.batch = 4}, 2);
  all_of(a, 0);
  all_of(a, 1);
  a.start(2);
  a.next();  // whatever was asked before
  expect_equal(all_of(a, 5), all_of(b, 5));
  EXPECT_NE(a.plan(5), a.plan(6));
  EXPECT_NE(a.plan(5), c.plan(5));
  Loader in_order(rich_set(), {.batch = 11, .shuffle = false}, 1);
  const auto order = in_order.plan(3);
  EXPECT_TRUE(std::is_sorted(order[0].begin(), order[0].end()));
}

TEST(Loader, ResumesInTheMiddleOfAnEpoch) {
  for (const int64_t ahead : {0, 3}) {
    Loader loader(rich_set(), {.batch = 3, .reflect = true, .ahead = ahead}, 7);
    const auto whole = all_of(loader, 4);
    loader.start(4);
    loader.next();
    loader.next();
    EXPECT_EQ(loader.epoch(), 4);
    EXPECT_EQ(loader.position(), 2);  // although more were made ahead
    Loader resumed(rich_set(), {.batch = 3, .reflect = true, .ahead = ahead}, 7);
    expect_equal(all_of(resumed, 4, 2), {whole.begin() + 2, whole.end()});
    EXPECT_TRUE(all_of(resumed, 4, 4).empty());
    EXPECT_THROW(resumed.start(4, 5), ShapeError);
  }
}

TEST(Loader, MakingAheadChangesNothing) {
  Loader now(rich_set(), {.batch = 2, .rotate = true, .ahead = 0}, 3);
  Loader ahead(rich_set(), {.batch = 2, .rotate = true, .ahead = 4}, 3);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    expect_equal(all_of(now, epoch), all_of(ahead, epoch));
  }
}

TEST(Loader, AugmentationBelongsToTheSampleNotToItsBatch) {
  const auto set = rich_set();
  Loader small(set, {.batch = 2, .reflect = true, .dtype = at::kDouble}, 3);
  Loader large(set, {.batch = 11, .shuffle = false, .reflect = true, .dtype = at::kDouble}, 3);
  const auto batches = all_of(small, 6);
  const Batch all = all_of(large, 6)[0];
  const auto plan = small.plan(6);
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

TEST(Loader, DtypeIsOfInputsAlone) {
  Loader loader(rich_set(), {.batch = 2, .dtype = at::kFloat}, 3);
  loader.start(0);
  const Batch batch = *loader.next();
  EXPECT_EQ(std::get<Points>(batch.input).positions.scalar_type(), at::kFloat);
  EXPECT_EQ(batch.labels.at("forces").scalar_type(), at::kDouble);
}

TEST(Loader, ThrowsWhereTheBrokenBatchWouldHaveCome) {
  const auto set = std::make_shared<Broken>(rich_batch({1, 1, 1, 1, 1, 1, 1}), rich_schema());
  for (const int64_t ahead : {0, 5}) {
    Loader loader(set, {.batch = 2, .shuffle = false, .ahead = ahead}, 1);
    loader.start(0);
    EXPECT_TRUE(loader.next());
    EXPECT_TRUE(loader.next());
    EXPECT_THROW(loader.next(), DataError);
    EXPECT_THROW(loader.next(), DataError);  // and again, never a hang
    loader.start(0, 3);
    EXPECT_TRUE(loader.next());
    EXPECT_FALSE(loader.next());
  }
}

/// Notes how many threads an operation of its would take.
class Counting : public InMemory {
 public:
  using InMemory::InMemory;
  Batch batch(std::span<const int64_t> indices) const override {
    threads = at::get_num_threads();
    return InMemory::batch(indices);
  }
  mutable std::atomic<int> threads = 0;
};

TEST(Loader, MakesBatchesWithTheThreadsOfItsCaller) {
  const int before = at::get_num_threads();
  for (const int chosen : {1, 3}) {
    at::set_num_threads(chosen);
    for (const int64_t ahead : {0, 2}) {
      const auto set = std::make_shared<Counting>(rich_batch({3, 1, 4}), rich_schema());
      Loader loader(set, {.ahead = ahead}, 1);
      loader.start(0);
      EXPECT_TRUE(loader.next());
      EXPECT_EQ(set->threads, chosen) << "ahead " << ahead;
    }
  }
  at::set_num_threads(before);
}

TEST(Loader, BitsDoNotDependOnTheNumberOfThreads) {
  const auto set = std::make_shared<InMemory>(rich_batch(std::vector<int64_t>(4000, 5)), rich_schema());
  const int before = at::get_num_threads();
  const auto with = [&](int threads) {
    at::set_num_threads(threads);
    Loader loader(set, {.batch = 4000, .reflect = true, .dtype = at::kDouble}, 1);
    return all_of(loader, 3);
  };
  const auto one = with(1);
  expect_equal(one, with(3));
  at::set_num_threads(before);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_GT(std::get<Points>(one[0].input).positions.numel(), 32768);  // what LibTorch leaves to one thread
}

TEST(Loader, StopsCleanlyAtAnyMoment) {
  const auto set = rich_set();
  for (int i = 0; i < 60; ++i) {
    Loader loader(set, {.batch = 1, .rotate = i % 2 == 0, .ahead = 1 + i % 3}, 1);
    loader.start(i);
    for (int k = 0; k < i % 5; ++k) {
      loader.next();
    }
    if (i % 4 == 0) {
      loader.start(i + 1, i % 3);
    }
    Loader moved = std::move(loader);
    if (i % 7 == 0) {
      moved.next();
    }
  }
}

TEST(Loader, OfAnEmptySetEndsAtOnce) {
  Loader loader(std::make_shared<InMemory>(rich_batch({}), rich_schema()), {}, 1);
  EXPECT_FALSE(loader.next());
  loader.start(0);
  EXPECT_EQ(loader.batches(), 0);
  EXPECT_FALSE(loader.next());
}

TEST(Loader, RefusesImpossibleOptions) {
  EXPECT_THROW(Loader(rich_set(), {.batch = 0}, 1), ConfigError);
  EXPECT_THROW(Loader(rich_set(), {.batch_tokens = 0}, 1), ConfigError);
  EXPECT_THROW(Loader(rich_set(), {.crop = {4}}, 1), ConfigError);
  EXPECT_THROW(Loader(images(2, 4, 4), {.crop = {4, 4, 4}}, 1), ConfigError);
}

const Tensor& values_of(const Batch& batch) {
  return std::get<Grid>(batch.input).values;
}

TEST(Loader, TurnsGridsByQuartersOfATurnTheSameInEveryBatch) {
  const auto set = images(96, 3, 3);
  const Tensor original = values_of(set->batch(std::vector<int64_t>{0}));
  for (const bool reflect : {false, true}) {
    Loader loader(set, {.batch = 5, .rotate = !reflect, .reflect = reflect, .dtype = at::kDouble}, 3);
    Loader alone(set, {.batch = 1, .rotate = !reflect, .reflect = reflect, .dtype = at::kDouble}, 3);
    std::set<std::vector<double>> seen;
    const auto plan = loader.plan(2);
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
  schema.carrier = Carrier::grid;
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

/// Grids of several sizes, each alone.
class Sizes : public Dataset {
 public:
  Sizes() {
    schema_.carrier = Carrier::grid, schema_.interface.dimension = 2, schema_.interface.features = {{"grey"}};
  }
  int64_t size() const override { return 9; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t index) const override { return 4 + index / 4; }
  Lattice lattice(int64_t index) const override { return {{1, tokens(index)}}; }
  Batch batch(std::span<const int64_t> indices) const override {
    std::vector<Batch> parts;
    for (const int64_t i : indices) {
      parts.push_back({Grid{at::zeros({1, 1, 1, tokens(i)})}, {}});
    }
    return concatenate(parts, schema_);
  }

 private:
  Schema schema_;
};

TEST(Loader, NeverPutsGridsOfDifferentSizesIntoOneBatch) {
  Loader loader(std::make_shared<Sizes>(), {.batch = 3, .shuffle = false}, 3);
  EXPECT_EQ(loader.plan(0), (std::vector<std::vector<int64_t>>{{0, 1, 2}, {3}, {4, 5, 6}, {7}, {8}}));
  EXPECT_EQ(all_of(loader, 0).size(), 5U);
  Loader cropped(std::make_shared<Sizes>(), {.batch = 9, .crop = {2, 5}}, 3);
  EXPECT_EQ(values_of(all_of(cropped, 0)[0]).sizes(), (at::IntArrayRef{9, 1, 2, 5}));
}

/// Grids of as many cells and different shapes or spacings: 2 x 6, 3 x 4, then two that are alike but for the
/// rounding of their headers, then one of another spacing.
class Shapes : public Dataset {
 public:
  Shapes() {
    schema_.carrier = Carrier::grid, schema_.interface.dimension = 2, schema_.interface.features = {{"grey"}};
  }
  int64_t size() const override { return 5; }
  const Schema& schema() const override { return schema_; }
  int64_t tokens(int64_t) const override { return 12; }
  Lattice lattice(int64_t i) const override {
    const double spacing[] = {1, 1, 1, 1 + 1e-8, 1.5};
    return {i == 0 ? std::vector<int64_t>{2, 6} : std::vector<int64_t>{3, 4}, {spacing[i], 1, 1}};
  }
  Batch batch(std::span<const int64_t> indices) const override {
    std::vector<Batch> parts;
    for (const int64_t i : indices) {
      const Lattice of = lattice(i);
      parts.push_back({Grid{at::zeros({1, 1, of.cells[0], of.cells[1]}), of.spacing}, {}});
    }
    return concatenate(parts, schema_);
  }

 private:
  Schema schema_;
};

TEST(Loader, BatchesGridsOfOneShapeAndSpacingNotOfOneNumberOfCells) {
  using Plan = std::vector<std::vector<int64_t>>;
  const auto set = std::make_shared<Shapes>();
  Loader loader(set, {.batch = 5, .shuffle = false}, 3);
  EXPECT_EQ(loader.plan(0), (Plan{{0}, {1, 2, 3}, {4}}));
  EXPECT_EQ(all_of(loader, 0).size(), 3U);
  Loader by_tokens(set, {.batch_tokens = 100, .shuffle = false}, 3);  // its batch is 1
  EXPECT_EQ(by_tokens.plan(0), (Plan{{0}, {1, 2, 3}, {4}}));
  Loader cropped(set, {.batch = 5, .shuffle = false, .crop = {2}}, 3);
  EXPECT_EQ(cropped.plan(0), (Plan{{0, 1, 2, 3}, {4}}));
  EXPECT_EQ(all_of(cropped, 0).size(), 2U);
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

TEST(Concatenate, SaysWhatGridsDiffer) {
  Schema schema;
  schema.carrier = Carrier::grid;
  const auto refusal = [&](Grid a, Grid b) {
    const std::vector<Batch> parts{{std::move(a), {}}, {std::move(b), {}}};
    return message_of<ShapeError>([&] { concatenate(parts, schema); });
  };
  const Tensor x = at::zeros({1, 1, 3, 3});
  EXPECT_NE(refusal({x, {1, 1, 1}}, {x, {1, 2, 1}}).find("one spacing, got 1 x 1 x 1 and 1 x 2 x 1"),
            std::string::npos);
  EXPECT_NE(refusal({x}, {at::zeros({1, 1, 3, 4})}).find("one size, got"), std::string::npos);
}

}  // namespace
}  // namespace weyl
