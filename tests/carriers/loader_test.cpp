#include "weyl/carriers/loader.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/carriers/loader_sets.h"
#include "tests/data/folder.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace loader_test {

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
      for (const auto& batch : loader.plan(epoch).all()) {
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
  const auto plan = loader.plan(0).all();
  for (size_t b = 0; b < plan.size(); ++b) {
    int64_t tokens = 0;
    for (const int64_t s : plan[b]) tokens += set->tokens(s);
    EXPECT_LE(tokens, 7);
    if (b + 1 < plan.size()) {
      EXPECT_GT(tokens + set->tokens(plan[b + 1][0]), 7);  // the next one did not fit
    }
  }
  Loader small(set, {.batch_tokens = 1}, 1);  // larger samples still come, alone
  EXPECT_EQ(small.plan(0).all().size(), 11u);
}

TEST(Loader, OrderIsAFunctionOfSeedAndEpochAlone) {
  Loader a(rich_set(), {.batch = 4}, 1), b(rich_set(), {.batch = 4}, 1), c(rich_set(), {.batch = 4}, 2);
  all_of(a, 0);
  all_of(a, 1);
  a.start(2);
  a.next();  // whatever was asked before
  expect_equal(all_of(a, 5), all_of(b, 5));
  EXPECT_NE(a.plan(5).all(), a.plan(6).all());
  EXPECT_NE(a.plan(5).all(), c.plan(5).all());
  Loader in_order(rich_set(), {.batch = 11, .shuffle = false}, 1);
  const auto order = in_order.plan(3).all();
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
  Loader several(rich_set(), {.batch = 2, .rotate = true, .ahead = 1, .threads = 3}, 3);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    expect_equal(all_of(now, epoch), all_of(ahead, epoch));
    expect_equal(all_of(now, epoch), all_of(several, epoch));
  }
}

TEST(Loader, DtypeIsOfInputsAlone) {
  Loader loader(rich_set(), {.batch = 2, .dtype = at::kFloat}, 3);
  loader.start(0);
  const Batch batch = *loader.next();
  EXPECT_EQ(std::get<Points>(batch.input).positions.scalar_type(), at::kFloat);
  EXPECT_EQ(batch.labels.at("forces").scalar_type(), at::kDouble);
}

TEST(Loader, PreparesEachBatchBeforeItsDtype) {
  for (const int64_t ahead : {0, 2}) {
    std::atomic<int64_t> seen = 0;
    LoaderOptions options{.batch = 2, .ahead = ahead, .dtype = at::kFloat};
    options.prepare = [&](Batch& batch) {
      EXPECT_EQ(std::get<Points>(batch.input).positions.scalar_type(), at::kDouble);
      batch.labels["rows"] = at::full({1}, batch.tokens(), at::kLong);
      seen += batch.count();
    };
    Loader loader(rich_set(), options, 3);
    loader.start(0);
    while (const auto batch = loader.next()) {
      EXPECT_EQ(std::get<Points>(batch->input).positions.scalar_type(), at::kFloat);
      EXPECT_EQ(batch->labels.at("rows").item<int64_t>(), batch->tokens());
    }
    EXPECT_EQ(seen, rich_set()->size());
    EXPECT_TRUE(loader.alone(0, 1).labels.contains("rows"));
  }
}

TEST(Loader, ThrowsWhereTheBrokenBatchWouldHaveCome) {
  const auto set = std::make_shared<Broken>(rich_batch({1, 1, 1, 1, 1, 1, 1}), rich_schema());
  for (const auto& [ahead, threads] : {std::pair{0, 1}, {5, 1}, {1, 3}}) {
    Loader loader(set, {.batch = 2, .shuffle = false, .ahead = ahead, .threads = threads}, 1);
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
    Loader loader(set, {.batch = 1, .rotate = i % 2 == 0, .ahead = 1 + i % 3, .threads = 1 + i % 4}, 1);
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

/// Grids of several sizes, each alone.
class Sizes : public Dataset {
 public:
  Sizes() {
    schema_.interface.grid = true, schema_.interface.dimension = 2, schema_.interface.features = {{"grey"}};
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
  EXPECT_EQ(loader.plan(0).all(), (std::vector<std::vector<int64_t>>{{0, 1, 2}, {3}, {4, 5, 6}, {7}, {8}}));
  EXPECT_EQ(all_of(loader, 0).size(), 5U);
  Loader cropped(std::make_shared<Sizes>(), {.batch = 9, .crop = {2, 5}}, 3);
  EXPECT_EQ(values_of(all_of(cropped, 0)[0]).sizes(), (at::IntArrayRef{9, 1, 2, 5}));
}

/// Grids of as many cells and different shapes or spacings: 2 x 6, 3 x 4, then two that are alike but for the
/// rounding of their headers, then one of another spacing.
class Shapes : public Dataset {
 public:
  Shapes() {
    schema_.interface.grid = true, schema_.interface.dimension = 2, schema_.interface.features = {{"grey"}};
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
  EXPECT_EQ(loader.plan(0).all(), (Plan{{0}, {1, 2, 3}, {4}}));
  EXPECT_EQ(all_of(loader, 0).size(), 3U);
  Loader by_tokens(set, {.batch_tokens = 100, .shuffle = false}, 3);  // its batch is 1
  EXPECT_EQ(by_tokens.plan(0).all(), (Plan{{0}, {1, 2, 3}, {4}}));
  Loader cropped(set, {.batch = 5, .shuffle = false, .crop = {2}}, 3);
  EXPECT_EQ(cropped.plan(0).all(), (Plan{{0, 1, 2, 3}, {4}}));
  EXPECT_EQ(all_of(cropped, 0).size(), 2U);
}

TEST(Concatenate, SaysWhatGridsDiffer) {
  Schema schema;
  schema.interface.grid = true;
  const auto refusal = [&](Grid a, Grid b) {
    const std::vector<Batch> parts{{std::move(a), {}}, {std::move(b), {}}};
    return message_of<ShapeError>([&] { concatenate(parts, schema); });
  };
  const Tensor x = at::zeros({1, 1, 3, 3});
  EXPECT_NE(refusal({x, {1, 1, 1}}, {x, {1, 2, 1}}).find("one spacing, got 1 x 1 x 1 and 1 x 2 x 1"),
            std::string::npos);
  EXPECT_NE(refusal({x}, {at::zeros({1, 1, 3, 4})}).find("one size, got"), std::string::npos);
}

/// Takes long for its first batch: the threads that make those after it have to wait for it to be asked for.
class SlowFirst : public InMemory {
 public:
  using InMemory::InMemory;
  Batch batch(std::span<const int64_t> indices) const override {
    if (std::count(indices.begin(), indices.end(), 0) > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    ++made;
    return InMemory::batch(indices);
  }
  mutable std::atomic<int64_t> made = 0;
};

TEST(Loader, HandsOutInOrderAndMakesNoMoreThanItMay) {
  const auto set = std::make_shared<SlowFirst>(rich_batch(std::vector<int64_t>(30, 1)), rich_schema());
  const LoaderOptions options{.batch = 1, .shuffle = false, .ahead = 2, .threads = 3};
  Loader loader(set, options, 1);
  loader.start(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(90));
  EXPECT_LE(set->made, options.ahead + options.threads);
  for (int64_t b = 0; b < 30; ++b) {
    const auto batch = loader.next();
    ASSERT_TRUE(batch);
    EXPECT_EQ(difference(*batch, loader.alone(0, b)), 0);
  }
  EXPECT_FALSE(loader.next());
}

/// More samples than an order is listed of, with one to three tokens; a batch has their numbers.
class Huge : public InMemory {
 public:
  explicit Huge(int64_t size) : InMemory(rich_batch({1}), rich_schema()), size_(size) {}
  int64_t size() const override { return size_; }
  int64_t tokens(int64_t index) const override { return 1 + index % 3; }
  Batch batch(std::span<const int64_t> indices) const override {
    Batch batch = InMemory::batch(std::vector<int64_t>(indices.size(), 0));
    batch.labels["numbers"] = at::tensor(at::IntArrayRef(indices.data(), indices.size()), at::kLong);
    return batch;
  }

 private:
  int64_t size_;
};

TEST(Loader, ComputesTheOrderOfManySamples) {
  constexpr int64_t n = EpochPlan::most_listed + 1001;
  const auto set = std::make_shared<Huge>(n);
  for (const auto tokens : {std::optional<int64_t>(), std::optional<int64_t>(1000)}) {
    const Loader loader(set, {.batch = 700, .batch_tokens = tokens}, 1);
    const EpochPlan plan = loader.plan(3);
    std::vector<bool> seen(n, false);
    int64_t samples = 0;
    for (int64_t b = 0; b < plan.size(); ++b) {
      int64_t sum = 0;
      for (const int64_t sample : plan[b]) {
        ASSERT_FALSE(seen[static_cast<size_t>(sample)]);
        seen[static_cast<size_t>(sample)] = true;
        sum += set->tokens(sample);
        ++samples;
      }
      ASSERT_TRUE(!tokens || (sum <= *tokens && (sum > *tokens - 3 || b + 1 == plan.size()))) << b;
    }
    EXPECT_EQ(samples, n);
    EXPECT_EQ(plan[5], loader.plan(3)[5]);
    EXPECT_NE(plan[5], loader.plan(4)[5]);
    EXPECT_NE(plan[5], Loader(set, {.batch = 700, .batch_tokens = tokens}, 2).plan(3)[5]);
  }
}

TEST(Loader, ResumesAmongManySamples) {
  const auto set = std::make_shared<Huge>(EpochPlan::most_listed + 1);
  const LoaderOptions options{.batch = 3, .threads = 2};
  Loader whole(set, options, 9), resumed(set, options, 9);
  whole.start(2);
  std::vector<Tensor> all;
  for (int i = 0; i < 12; ++i) {
    all.push_back(whole.next()->labels.at("numbers"));
  }
  resumed.start(2, 8);
  for (size_t i = 8; i < 12; ++i) {
    EXPECT_TRUE(at::equal(resumed.next()->labels.at("numbers"), all[i]));
  }
  const EpochPlan plan = whole.plan(2);
  EXPECT_THROW(plan[plan.size()], ShapeError);
  EXPECT_THROW(plan[-1], ShapeError);
}

/// A set of fewer has the order that it always had: trainings that were begun go on with their bits.
TEST(Loader, ListsTheOrderOfFewSamples) {
  const Loader loader(rich_set(), {.batch = 4}, 1);
  const auto order = Stream(1, "order", {3}).permutation(11);
  const auto plan = loader.plan(3).all();
  EXPECT_EQ(plan, (std::vector<std::vector<int64_t>>{{order.begin(), order.begin() + 4},
                                                     {order.begin() + 4, order.begin() + 8},
                                                     {order.begin() + 8, order.end()}}));
}

}  // namespace loader_test
}  // namespace weyl
