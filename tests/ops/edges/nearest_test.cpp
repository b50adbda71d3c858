// The edges to the nearest nodes, against all distances.
#include "weyl/ops/edges/nearest.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace nearest_test {

/// By the definition: i itself, and all others no farther than the nearest so many.
std::vector<std::pair<int64_t, int64_t>> by_definition(const Tensor& positions, const Segments& graphs,
                                                       int64_t count) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    for (int64_t i = graphs.offsets[g]; i < graphs.offsets[g + 1]; ++i) {
      const auto square = [&](int64_t j) {
        return (positions[i] - positions[j]).to(at::kDouble).square().sum().item<double>();
      };
      std::vector<double> squares;
      for (int64_t j = graphs.offsets[g]; j < graphs.offsets[g + 1]; ++j) {
        if (j != i) {
          squares.push_back(square(j));
        }
      }
      std::ranges::sort(squares);
      const auto last = std::min<int64_t>(count, std::ssize(squares)) - 1;
      for (int64_t j = graphs.offsets[g]; j < graphs.offsets[g + 1]; ++j) {
        if (j == i || square(j) <= squares[last] * (1 + 1e-4)) {
          pairs.emplace_back(i, j);
        }
      }
    }
  }
  return pairs;
}

/// In the order of the nodes.
std::vector<std::pair<int64_t, int64_t>> pairs_of(const NearestNodes& near) {
  const Tensor from = near.order.index_select(0, near.edges.centre),
               to = near.order.index_select(0, near.edges.neighbour);
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t e = 0; e < near.edges.count(); ++e) {
    pairs.emplace_back(from[e].item<int64_t>(), to[e].item<int64_t>());
  }
  std::ranges::sort(pairs);
  return pairs;
}

TEST(NearestEdges, AreThoseOfTheDefinition) {
  at::manual_seed(1);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{30, 1, 0, 12, 2});
  for (const int64_t dimension : {1, 2, 3}) {
    for (const auto dtype : {at::kFloat, at::kDouble}) {
      const Tensor places = at::randn({graphs.rows(), dimension}, at::kDouble).to(dtype);
      for (const Tensor& positions :
           {places, (2 * places).round(), at::zeros_like(places)}) {  // with many equals
        for (const int64_t count : {1, 5, 20}) {
          const NearestNodes near = nearest_nodes(positions, graphs, count);
          EXPECT_EQ(near.edges.nodes(), graphs.rows());
          EXPECT_TRUE(near.order.index_select(0, near.back).equal(at::arange(graphs.rows())));
          ASSERT_EQ(pairs_of(near), by_definition(positions, graphs, count)) << dimension << " " << count;
          const ShareAll shared;
          EXPECT_TRUE(nearest_nodes(positions, graphs, count).edges.neighbour.equal(near.edges.neighbour));
        }
      }
    }
  }
}

TEST(NearestEdges, OfANodeWithoutNeighboursAreItself) {
  const NearestNodes near = nearest_nodes(at::zeros({1, 3}), Segments::of_sizes(std::vector<int64_t>{1}), 4);
  EXPECT_EQ(pairs_of(near), (std::vector<std::pair<int64_t, int64_t>>{{0, 0}}));
  EXPECT_EQ(nearest_nodes(at::zeros({0, 3}), Segments::of_sizes(std::vector<int64_t>{}), 4).edges.count(), 0);
}

/// In the order found, the neighbours of most nodes are not far in memory, as they are in an order that is drawn.
TEST(NearestEdges, StandNearOneAnother) {
  at::manual_seed(2);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4000});
  const NearestNodes near = nearest_nodes(at::randn({4000, 3}), graphs, 8);
  const auto steps = [](const Tensor& from, const Tensor& to) {
    return (from - to).abs().to(at::kDouble).median().item<double>();
  };
  EXPECT_LT(steps(near.edges.centre, near.edges.neighbour), 60);
  EXPECT_GT(
      steps(near.order.index_select(0, near.edges.centre), near.order.index_select(0, near.edges.neighbour)),
      600);
}

TEST(NearestEdges, RefuseWhatCannotBe) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{2, 3});
  EXPECT_THROW(nearest_nodes(at::zeros({5, 3}), graphs, 0), ShapeError);
  EXPECT_THROW(nearest_nodes(at::zeros({4, 3}), graphs, 1), ShapeError);
  EXPECT_THROW(nearest_nodes(at::zeros({5, 4}), graphs, 1), ShapeError);
  for (const double bad : {NAN, INFINITY}) {
    Tensor positions = at::zeros({5, 3});
    positions[3][1] = bad;
    try {
      nearest_nodes(positions, graphs, 1);
      FAIL();
    } catch (const ShapeError& error) {
      EXPECT_STREQ(error.what(), "nearest_nodes: graph 1: positions must be finite");
    }
  }
}

}  // namespace nearest_test
}  // namespace weyl
