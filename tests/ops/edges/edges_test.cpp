#include "weyl/ops/edges/edges.h"

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace edges_test {

Tensor rows(std::vector<int64_t> values) {
  return at::tensor(values, at::kLong);
}
Tensor wave(std::vector<int64_t> shape, double seed) {
  const int64_t count = c10::multiply_integers(shape);
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

TEST(Edges, AllPairsStandInTheOrderOfPairLevel) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 0, 3, 1});
  const Edges pairs = all_pairs(graphs);
  EXPECT_TRUE(at::equal(pairs.centre, rows({0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5})));
  EXPECT_TRUE(at::equal(pairs.neighbour, rows({0, 1, 0, 1, 2, 3, 4, 2, 3, 4, 2, 3, 4, 5})));
  EXPECT_EQ(pairs.count(), graphs.pairs());
  EXPECT_EQ(pairs.of_centre.sizes(), (std::vector<int64_t>{2, 2, 3, 3, 3, 1}));
  EXPECT_EQ(pairs.of_graph.sizes(), (std::vector<int64_t>{4, 0, 9, 1}));
  EXPECT_TRUE(at::equal(pairs.bond, rows({0, 1, 1, 2, 3, 4, 5, 4, 6, 7, 5, 7, 8, 9})));
  EXPECT_TRUE(at::equal(pairs.edge_of_bond, rows({0, 1, 3, 4, 5, 6, 8, 9, 12, 13})));
  const Edges given = edges_of(pairs.centre, pairs.neighbour, {}, graphs);
  EXPECT_TRUE(at::equal(pairs.bond, given.bond));
  EXPECT_TRUE(at::equal(pairs.edge_of_bond, given.edge_of_bond));
  EXPECT_EQ(all_pairs(Segments::of_sizes(std::vector<int64_t>{})).neighbour.size(0), 0);
}

TEST(Edges, AllPairsAreMadeOnceABatchAndAlikeWithoutKernels) {
  const std::vector<int64_t> sizes{3, 1, 0, 6, 2};
  const Segments graphs = Segments::of_sizes(sizes), copy = graphs;
  const Edges pairs = all_pairs(graphs), again = all_pairs(copy);
  EXPECT_TRUE(again.centre.is_same(pairs.centre));
  EXPECT_TRUE(again.neighbour.is_same(pairs.neighbour));
  EXPECT_TRUE(again.bond.is_same(pairs.bond));
  EXPECT_TRUE(again.edge_of_bond.is_same(pairs.edge_of_bond));
  EXPECT_TRUE(again.of_graph.index.is_same(pairs.of_graph.index));
  const WithoutKernels without;
  const Edges other = all_pairs(Segments::of_sizes(sizes));
  EXPECT_TRUE(at::equal(other.centre, pairs.centre));
  EXPECT_TRUE(at::equal(other.neighbour, pairs.neighbour));
  EXPECT_TRUE(at::equal(other.bond, pairs.bond));
  EXPECT_TRUE(at::equal(other.edge_of_bond, pairs.edge_of_bond));
  EXPECT_EQ(other.of_centre.offsets, pairs.of_centre.offsets);
  EXPECT_EQ(other.of_graph.offsets, pairs.of_graph.offsets);
  EXPECT_TRUE(at::equal(other.of_graph.index, pairs.of_graph.index));
  EXPECT_TRUE(at::equal(other.of_centre.offsets_on_device(), at::tensor(other.of_centre.offsets, at::kInt)));
  EXPECT_TRUE(at::equal(other.of_graph.sizes_on_device(), rows({9, 1, 0, 36, 4})));
}

TEST(Edges, OfAGraphSumToItsCentroid) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 0, 3, 1});
  const Tensor x = (at::arange(12, at::kDouble) * 0.7).sin().view({6, 2});
  const auto mean_of_all = [&](const auto& in) {
    const Edges pairs = all_pairs(graphs);
    return segment_mean(in[0].index_select(0, pairs.neighbour), pairs.of_centre);
  };
  EXPECT_TRUE(at::allclose(mean_of_all(std::vector<Tensor>{x}),
                           segment_mean(x, graphs).index_select(0, graphs.index), 1e-14, 1e-14));
  expect_gradients(mean_of_all, {x});
}

TEST(Edges, GivenAsListsFormBondsWithTheirReverses) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 2});
  const Edges edges = edges_of(rows({0, 0, 1, 2, 2, 4}), rows({1, 2, 2, 0, 2, 3}), {}, graphs);
  EXPECT_EQ(edges.of_centre.sizes(), (std::vector<int64_t>{2, 1, 2, 0, 1}));
  EXPECT_EQ(edges.of_graph.sizes(), (std::vector<int64_t>{5, 1}));
  EXPECT_TRUE(at::equal(edges.bond, rows({0, 1, 2, 1, 3, 4})));
  EXPECT_TRUE(at::equal(edges.edge_of_bond, rows({0, 1, 2, 4, 5})));
  // Two images of one neighbour, one of them without its reverse, and images of an atom itself.
  const Tensor shifts =
      at::tensor({0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0}, at::kLong).view({6, 3});
  const Edges images = edges_of(rows({0, 0, 0, 0, 1, 1}), rows({0, 0, 1, 1, 0, 0}), shifts, graphs);
  EXPECT_TRUE(at::equal(images.bond, rows({0, 0, 1, 2, 1, 3})));
  EXPECT_THROW(edges_of(rows({1, 0}), rows({0, 1}), {}, graphs), ShapeError);  // centres decrease
  EXPECT_THROW(edges_of(rows({0, 0}), rows({2, 1}), {}, graphs), ShapeError);  // neighbours decrease
  EXPECT_THROW(edges_of(rows({0, 0}), rows({1, 1}), {}, graphs), ShapeError);  // twice
  EXPECT_THROW(edges_of(rows({0, 5}), rows({0, 4}), {}, graphs), ShapeError);  // no such node
  EXPECT_THROW(edges_of(rows({0, -1}), rows({0, 4}), {}, graphs), ShapeError);
  EXPECT_THROW(edges_of(rows({0, 1}), rows({0, 3}), {}, graphs), ShapeError);  // leaves its graph
  EXPECT_THROW(edges_of(rows({0, 3}), rows({0, 2}), {}, graphs), ShapeError);
  EXPECT_THROW(edges_of(rows({0}), rows({0, 1}), {}, graphs), ShapeError);
  EXPECT_THROW(edges_of(rows({0}), rows({0}), at::zeros({1, 2}, at::kLong), graphs), ShapeError);
}

/// Two graphs in cells, and edges with shifts.
struct InCells {
  Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 1});
  Edges edges =
      edges_of(rows({0, 0, 1, 2, 2}), rows({0, 1, 0, 2, 2}),
               at::tensor({1, -2, 0, 0, 0, 0, 0, 0, 1, -1, 0, 3, 0, 0, 0}, at::kLong).view({5, 3}), graphs);
  Tensor positions = wave({3, 3}, 0.2), cell = wave({2, 3, 3}, 0.9) * 3;
};

TEST(Displacements, AreThoseOfTheirDefinition) {
  const InCells in;
  const Tensor x = displacements(in.positions, in.edges, in.cell);
  for (int64_t e = 0; e < in.edges.count(); ++e) {
    const int64_t graph = e < 3 ? 0 : 1;
    Tensor want = in.positions[in.edges.neighbour[e].item<int64_t>()] -
                  in.positions[in.edges.centre[e].item<int64_t>()];
    for (int64_t k = 0; k < 3; ++k) {
      want = want + in.edges.shifts[e][k].item<int64_t>() * in.cell[graph][k];
    }
    EXPECT_LT((x[e] - want).abs().max().item<double>(), 1e-14) << e;
  }
  EXPECT_GT((x - displacements(in.positions, in.edges, in.cell.transpose(1, 2).contiguous()))
                .abs()
                .max()
                .item<double>(),
            0.1);
  EXPECT_THROW(displacements(in.positions, in.edges), ShapeError);
  EXPECT_THROW(displacements(in.positions, in.edges, in.cell.to(at::kFloat)), ShapeError);
  EXPECT_THROW(displacements(in.positions.slice(0, 0, 2), in.edges, in.cell), ShapeError);
  EXPECT_THROW(displacements(in.positions, in.edges, in.cell[0]), ShapeError);
  // In the plane, without a cell.
  const Tensor flat = wave({6, 2}, 0.1);
  const Edges pairs = all_pairs(Segments::of_sizes(std::vector<int64_t>{6}));
  EXPECT_TRUE(at::equal(displacements(flat, pairs).view({6, 6, 2})[1][4], flat[4] - flat[1]));
}

TEST(Displacements, HaveDerivativesInPositionsAndCell) {
  const InCells in;
  expect_second_gradients([&](const auto& x) { return displacements(x[0], in.edges, x[1]).pow(3); },
                          {in.positions, in.cell});
}

TEST(Polar, IsLengthAndDirectionWithDerivativesThatVanishAtZero) {
  Tensor x = wave({5, 3}, 0.4) * 3;
  const Polar p = polar(x);
  EXPECT_TRUE(at::allclose(p.length.unsqueeze(1) * p.direction, x, 1e-14, 1e-14));
  EXPECT_TRUE(at::allclose(p.direction.pow(2).sum(1), at::ones({5}, at::kDouble), 1e-14, 1e-14));
  const auto both = [](const auto& in) {
    const Polar q = polar(in[0]);
    return at::cat({q.length.pow(3).unsqueeze(1), q.length.unsqueeze(1), q.direction}, 1);
  };
  expect_second_gradients(both, {x});
  x[2].zero_();
  expect_finite_gradients(both, {x});
  x.requires_grad_();
  const Polar q = polar(x);
  EXPECT_EQ(q.length[2].item<double>(), 0);
  EXPECT_EQ(q.direction[2].abs().max().item<double>(), 0);
  const Tensor first = torch::autograd::grad({q.length.sum()}, {x}, {}, true, true)[0];
  EXPECT_EQ(first[2].abs().max().item<double>(), 0);
  EXPECT_GT(first[1].abs().max().item<double>(), 0.1);
  const Tensor second = torch::autograd::grad({first.pow(2).sum() + first.sum()}, {x})[0];
  EXPECT_EQ(second[2].abs().max().item<double>(), 0);
  EXPECT_EQ(polar(at::zeros({0, 3}, at::kDouble)).direction.size(0), 0);
}

}  // namespace edges_test
}  // namespace weyl
