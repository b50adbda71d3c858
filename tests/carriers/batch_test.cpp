#include "weyl/carriers/batch.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/data/fixtures.h"
#include "tests/peak_memory.h"
#include "weyl/carriers/consistency.h"
#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl {
namespace batch_test {

std::vector<int64_t> ints(std::initializer_list<int64_t> x) {
  return x;
}

TEST(Batch, TakeOfOneGraphHasExactlyItsRows) {
  const Schema schema = rich_schema();
  const Batch all = rich_batch({3, 1, 4});
  const Batch one = take(all, ints({2}), schema);
  const auto& p = std::get<Points>(one.input);
  const auto& whole = std::get<Points>(all.input);
  EXPECT_EQ(one.count(), 1);
  EXPECT_EQ(one.tokens(), 4);
  EXPECT_TRUE(at::equal(p.positions, whole.positions.slice(0, 4, 8)));
  EXPECT_TRUE(at::equal(p.pairs, whole.pairs.slice(0, 10, 26)));
  EXPECT_EQ(p.objects.offsets, (std::vector<int64_t>{0, 2, 4}));
  EXPECT_TRUE(at::equal(p.of_objects.at("mass"), whole.of_objects.at("mass").slice(0, 3, 5)));
  EXPECT_TRUE(at::equal(one.labels.at("torque"), all.labels.at("torque").slice(0, 3, 5)));
  EXPECT_TRUE(at::equal(one.labels.at("energy"), all.labels.at("energy").slice(0, 2, 3)));
  EXPECT_TRUE(at::equal(one.labels.at("pull"), all.labels.at("pull").slice(0, 10, 26)));
}

/// Bytes that a take of 32 out of so many graphs of one node needs at most.
int64_t memory_of_a_take(int64_t graphs) {
  std::vector<int64_t> offsets(graphs + 1);
  std::iota(offsets.begin(), offsets.end(), 0);
  Batch all;
  all.input = Points{.positions = at::zeros({graphs, 3}), .graphs = Segments::of_offsets(std::move(offsets))};
  std::vector<int64_t> which(32);
  std::iota(which.begin(), which.end(), graphs / 2);
  return memory_of([&] { EXPECT_EQ(take(all, which, {}).count(), 32); });
}

TEST(Batch, TakeDoesNotCopyWhatGrowsWithTheSet) {
  constexpr int64_t graphs = 4'000'000;
  memory_of_a_take(200);  // the pages of the code come with its first call
  // Less than a quarter of the offsets alone.
  EXPECT_LT(memory_of_a_take(graphs), 8 * graphs / 4);
}

TEST(Batch, TakeAgreesWithConcatenationOfSingles) {
  const Schema schema = rich_schema();
  const Batch all = rich_batch({3, 0, 4, 1, 5});
  const auto which = ints({4, 1, 0, 4, 2});  // any order, repeats
  std::vector<Batch> singles;
  for (const int64_t g : which) {
    singles.push_back(take(all, ints({g}), schema));
  }
  const Batch taken = take(all, which, schema);
  EXPECT_EQ(difference(taken, concatenate(singles, schema)), 0);
  EXPECT_GT(difference(taken, take(all, ints({4, 1, 0, 2, 4}), schema)), 0);
  EXPECT_EQ(difference(take(all, ints({0, 1, 2, 3, 4}), schema), all), 0);
  require_consistent(taken, schema);
}

TEST(Batch, TakeOfNothingIsAnEmptyBatchOfTheSameFields) {
  const Schema schema = rich_schema();
  const Batch none = take(rich_batch({3, 2}), {}, schema);
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.tokens(), 0);
  require_consistent(none, schema);
  const Batch joined = concatenate(std::vector<Batch>{none, rich_batch({2})}, schema);
  EXPECT_EQ(difference(joined, rich_batch({2})), 0);
}

TEST(Batch, TakeRefusesGraphsThatAreNotThere) {
  const Schema schema = rich_schema();
  const Batch all = rich_batch({3, 2});
  EXPECT_THROW(take(all, ints({2}), schema), ShapeError);
  EXPECT_THROW(take(all, ints({-1}), schema), ShapeError);
}

TEST(Batch, ConcatenateRefusesDifferentFields) {
  const Schema schema = rich_schema();
  Batch a = rich_batch({3}), b = rich_batch({2});
  std::get<Points>(b.input).cell = Tensor();
  EXPECT_THROW(concatenate(std::vector<Batch>{a, b}, schema), ShapeError);
  b = rich_batch({2});
  b.labels.erase("energy");
  EXPECT_THROW(concatenate(std::vector<Batch>{a, b}, schema), ShapeError);
  EXPECT_THROW(concatenate({}, schema), ShapeError);
}

TEST(Batch, ToCastsInputsAndKeepsLabelsAndIntegers) {
  const Batch half = to(rich_batch({3, 2}), at::kCPU, at::kFloat);
  const auto& p = std::get<Points>(half.input);
  EXPECT_EQ(p.positions.scalar_type(), at::kFloat);
  EXPECT_EQ(p.of_objects.at("inertia").scalar_type(), at::kFloat);
  EXPECT_EQ(p.types.scalar_type(), at::kLong);
  EXPECT_EQ(p.pbc.scalar_type(), at::kBool);
  EXPECT_EQ(half.labels.at("energy").scalar_type(), at::kDouble);
  EXPECT_EQ(half.labels.at("class").scalar_type(), at::kLong);
}

TEST(Batch, ConsistencyNamesWhatIsWrong) {
  const Schema schema = rich_schema();
  const auto message = [&](auto spoil) {
    Batch batch = rich_batch({3, 2});
    spoil(batch, std::get<Points>(batch.input));
    try {
      require_consistent(batch, schema);
    } catch (const ShapeError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_EQ(message([](Batch&, Points&) {}), "nothing");
  EXPECT_EQ(message([](Batch&, Points& p) { p.positions = p.positions.slice(0, 1); }),
            "positions: must be (5, 3), got (4, 3)");
  EXPECT_EQ(message([](Batch&, Points& p) { p.vectors = Tensor(); }), "vectors: must be (5, 4, 3), absent");
  EXPECT_EQ(message([](Batch&, Points& p) { p.types = p.types + 4; }), "types: must be 0 .. 3, got 4 .. 6");
  EXPECT_EQ(message([](Batch&, Points& p) { p.of_graphs.clear(); }),
            "graph input: 'gravity' is declared but absent");
  EXPECT_EQ(message([](Batch& b, Points&) { b.labels["energy"] = b.labels["energy"].to(at::kFloat); }),
            "label 'energy': must be float64, got Float");
  EXPECT_EQ(message([](Batch& b, Points&) { b.labels["extra"] = at::zeros({2}); }),
            "label: 'extra' is not declared");
  EXPECT_EQ(message([](Batch&, Points& p) { p.objects = Segments::of_sizes(std::vector<int64_t>{2, 2, 1}); }),
            "objects: must lie inside one graph, one spans node 3");
}

TEST(Batch, PosesAndGridsAreTakenToo) {
  Schema poses;
  poses.interface.group = LieGroup::se3;
  poses.interface.features = {{"weight", Level::node, Kind::scalar, 1}};
  const Tensor elements = at::randn({5, 4, 4}, at::kDouble);
  const Batch p{
      Poses{LieGroup::se3, elements, at::randn({5, 1}), Segments::of_sizes(std::vector<int64_t>{2, 3})}, {}};
  const Batch second = take(p, ints({1}), poses);
  EXPECT_TRUE(at::equal(std::get<Poses>(second.input).elements, elements.slice(0, 2, 5)));
  EXPECT_EQ(difference(concatenate(std::vector<Batch>{take(p, ints({0}), poses), second}, poses), p), 0);

  Schema grid;
  grid.interface.grid = true;
  grid.interface.dimension = 2;
  grid.interface.features = {{"grey", Level::node, Kind::scalar, 1}};
  const Batch g{Grid{at::randn({3, 1, 4, 5}), {}}, {}};
  EXPECT_EQ(g.tokens(), 60);
  EXPECT_TRUE(at::equal(std::get<Grid>(take(g, ints({2}), grid).input).values,
                        std::get<Grid>(g.input).values.slice(0, 2, 3)));
}

TEST(InMemory, IsTakeOfOneBigBatch) {
  const Schema schema = rich_schema();
  const InMemory set(rich_batch({3, 1, 4}), schema);
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.tokens(2), 4);
  EXPECT_THROW(set.tokens(3), ShapeError);
  EXPECT_EQ(difference(set.batch(ints({2, 0})), take(set.all(), ints({2, 0}), schema)), 0);
  Batch broken = rich_batch({3});
  std::get<Points>(broken.input).scalars = Tensor();
  EXPECT_THROW(InMemory(broken, schema), ShapeError);
}

// A list of samples took 146 us a batch, a copy of the set 5 ms.
TEST(InMemory, AssemblesABatchInTheMemoryOfABatch) {
  Schema schema;
  schema.interface.features = {{"charge", Level::node, Kind::scalar, 1},
                               {"velocity", Level::node, Kind::vector, 1}};
  schema.labels = {{"displacement", Level::node, Kind::vector, 1, Role::offset}};
  const int64_t graphs = 3000, nodes = 18 * graphs;
  Points p;
  p.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, 18));
  p.positions = at::randn({nodes, 3});
  p.scalars = at::randn({nodes, 1});
  p.vectors = at::randn({nodes, 1, 3});
  const InMemory set(Batch{p, {{"displacement", at::randn({nodes, 1, 3}, at::kDouble)}}}, schema);
  std::vector<int64_t> which(96);
  for (int64_t i = 0; i < 96; ++i) {
    which[i] = (i * 911) % graphs;
  }
  const AllocationPeak peak;
  const Batch batch = set.batch(which);
  const auto& points = std::get<Points>(batch.input);
  ASSERT_EQ(batch.tokens(), 96 * 18);
  const auto bytes = static_cast<int64_t>(points.positions.nbytes() + points.scalars.nbytes() +
                                          points.vectors.nbytes() + batch.labels.at("displacement").nbytes());
  EXPECT_GE(peak.bytes(), bytes);
  EXPECT_LT(peak.bytes(), 3 * bytes);  // with the indices of its rows; the set has 31 times as many
}

}  // namespace batch_test
}  // namespace weyl
