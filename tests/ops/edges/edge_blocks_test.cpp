#include "weyl/ops/edges/edge_blocks.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "weyl/core/check.h"
#include "weyl/ops/edges/neighbours.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace edge_blocks_test {

using enum BlockRows;

Tensor numbers(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + seed) * 12.9898).sin().view(shape);
}

/// Edges of three graphs, one of them a node alone, in cells: some edges have shifts.
Edges some_edges() {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{9, 1, 12});
  const Tensor cell = at::eye(3, at::kDouble).mul(4).expand({3, 3, 3}).contiguous();
  return neighbours(numbers({22, 3}, 1) * 3, graphs, 2.5, cell, at::ones({3, 3}, at::kBool), true);
}

/// Something of all: nodes at both ends, edges, bonds, shifts, cells of graphs, and a matrix for all.
Tensors everything(const Tensors& in, const Edges& edges) {
  const Tensor &node = in[0], &edge = in[1], &bond = in[2], &matrix = in[3], &kind = in[4];
  const Tensor pair = node.index_select(0, edges.centre) * node.index_select(0, edges.neighbour).cos() +
                      kind.index_select(0, edges.neighbour).to(at::kDouble).unsqueeze(1);
  const Tensor shifted =
      edges.shifts.to(at::kDouble).sum(1, true) + edges.of_graph.index.to(at::kDouble).unsqueeze(1);
  const Tensor all =
      at::tanh(pair * edge.unsqueeze(1) + bond.index_select(0, edges.bond) + 0.1 * shifted).matmul(matrix);
  const Tensor of_bonds = bond * edge.index_select(0, edges.edge_of_bond).square().unsqueeze(1);
  return {segment_sum(all, edges.of_centre), (all * pair).sum(1), of_bonds};
}

const EdgeBlockForm form{{node, edge, bond, whole, node}, {node, edge, bond}};

Tensors inputs_of(const Edges& edges) {
  Tensors in{numbers({22, 4}, 2), numbers({edges.count()}, 3), numbers({edges.bonds(), 4}, 4),
             numbers({4, 4}, 5)};
  for (Tensor& x : in) {
    x.requires_grad_(true);
  }
  in.push_back(at::arange(22, at::kLong) % 3);
  return in;
}

double difference(const Tensors& a, const Tensors& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && worst < INFINITY; ++i) {
    const double off = a[i].sizes() == b[i].sizes() ? (a[i] - b[i]).abs().max().item<double>() : INFINITY;
    worst = off > worst || std::isnan(off) ? off : worst;
  }
  return worst;
}

Tensor weighed(const Tensors& y) {
  Tensor sum;
  for (size_t i = 0; i < y.size(); ++i) {
    const Tensor part = (y[i] * numbers(y[i].sizes().vec(), 7 + static_cast<double>(i))).sum();
    sum = sum.defined() ? sum + part : part;
  }
  return sum;
}

TEST(EdgeBlocks, GiveWhatTheWholeGivesWithItsDerivatives) {
  const Edges edges = some_edges();
  ASSERT_GT(edges.count(), 100);
  ASSERT_GT(edges.count(), edges.bonds());
  const Tensors in = inputs_of(edges), wanted(in.begin(), in.begin() + 4);
  const Tensors expected = everything(in, edges);
  const Tensors slopes = torch::autograd::grad({weighed(expected)}, wanted, {}, {}, /*create_graph=*/true);
  const Tensors second = torch::autograd::grad({weighed(slopes)}, wanted);
  for (const int64_t most : {1, 7, 40, 100}) {
    int64_t calls = 0, largest = 0;
    const auto counted = [&](const Tensors& x, const Edges& part) {
      ++calls;
      largest = std::max(largest, part.count());
      return everything(x, part);
    };
    const Tensors found = in_edge_blocks(counted, form, in, edges, most);
    EXPECT_LT(difference(found, expected), 1e-13) << most;
    EXPECT_GE(calls, edges.count() / std::max<int64_t>(most, 22));
    EXPECT_LE(largest, std::max<int64_t>(most, 40));
    const Tensor sum = weighed(found);
    EXPECT_LT(difference(torch::autograd::grad({sum}, wanted, {}, /*retain_graph=*/true), slopes), 1e-12)
        << most;
    EXPECT_LE(largest, std::max<int64_t>(most, 40));
    const Tensors again = torch::autograd::grad({sum}, wanted, {}, {}, /*create_graph=*/true);
    EXPECT_LT(difference(again, slopes), 1e-12) << most;
    EXPECT_LT(difference(torch::autograd::grad({weighed(again)}, wanted), second), 1e-11) << most;
  }
}

TEST(EdgeBlocks, FewEdgesAreOneCall) {
  const Edges edges = some_edges();
  int64_t calls = 0;
  in_edge_blocks(
      [&](const Tensors& x, const Edges& part) {
        ++calls;
        EXPECT_TRUE(part.centre.is_same(edges.centre));
        return everything(x, part);
      },
      form, inputs_of(edges), edges, edges.count());
  EXPECT_EQ(calls, 1);
}

TEST(EdgeBlocks, LeavesUndefinedInputsAndRefusesWrongRows) {
  const Edges edges = some_edges();
  const auto f = [](const Tensors& x, const Edges& part) {
    EXPECT_FALSE(x[1].defined());
    return Tensors{segment_sum(x[0].index_select(0, part.neighbour), part.of_centre)};
  };
  const Tensors in{numbers({22, 2}, 1), Tensor()};
  const EdgeBlockForm two{{node, edge}, {node}};
  EXPECT_LT(difference(in_edge_blocks(f, two, in, edges, 10), f(in, edges)), 1e-14);
  EXPECT_THROW(in_edge_blocks(f, two, {numbers({21, 2}, 1), Tensor()}, edges, 10), ShapeError);
  EXPECT_THROW(in_edge_blocks(f, two, {numbers({22, 2}, 1)}, edges, 10), ShapeError);
}

}  // namespace edge_blocks_test
}  // namespace weyl
