// Attention to listed nodes: the padded form with a mask, written out, in values and derivatives.
#include "weyl/ops/attention/local_attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/edges/nearest.h"

namespace weyl {
namespace local_attention_test {

/// softmax_j(scale q_i . k_j + mask_ij) v_j over all nodes, mask 0 where there is an edge and -infinity elsewhere.
Tensor masked(const Tensor& q, const Tensor& k, const Tensor& v, const Edges& edges, double scale) {
  const int64_t n = q.size(0), heads = q.size(1);
  Tensor mask = at::full({n, n}, -INFINITY, at::kDouble);
  mask.index_put_({edges.centre, edges.neighbour}, at::zeros({edges.count()}, at::kDouble));
  const auto by_head = [&](const Tensor& x) { return x.expand({n, heads, x.size(2)}).transpose(0, 1); };
  const Tensor scores = at::matmul(by_head(q), by_head(k).transpose(1, 2)) * scale + mask;
  return at::matmul(at::softmax(scores, 2), by_head(v)).transpose(0, 1);
}

Edges in_order_of_nodes(const NearestNodes& near) {
  const Tensor from = near.order.index_select(0, near.edges.centre),
               to = near.order.index_select(0, near.edges.neighbour);
  const Tensor order = at::argsort(from * near.order.size(0) + to);
  return edges_of(from.index_select(0, order), to.index_select(0, order), {},
                  Segments::of_sizes(std::vector<int64_t>{near.order.size(0)}));
}

struct Case {
  int64_t heads, shared, key, value;  // heads of queries, of keys and values, widths
};
const std::vector<Case> cases{{1, 1, 3, 3}, {4, 4, 8, 8}, {4, 1, 12, 16}, {3, 3, 16, 5}, {2, 1, 1, 1}};

std::vector<Tensor> drawn(const Case& c, int64_t n) {
  return {at::randn({n, c.heads, c.key}, at::kDouble), at::randn({n, c.shared, c.key}, at::kDouble),
          at::randn({n, c.shared, c.value}, at::kDouble)};
}

double distance(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

/// Under autocast what was turned or normed is float32 and values are not: as of ragged attention, the wider type counts.
TEST(LocalAttention, TakesNarrowValuesBesideWideKeys) {
  at::manual_seed(2);
  const NearestNodes near =
      nearest_nodes(at::randn({12, 3}), Segments::of_sizes(std::vector<int64_t>{12}), 3);
  const Tensor q = at::randn({12, 2, 4}), k = at::randn({12, 2, 4}),
               v = at::randn({12, 2, 4}).to(at::kBFloat16);
  const Tensor y = local_attention(q, k, v, near, 0.5),
               wide = local_attention(q, k, v.to(at::kFloat), near, 0.5);
  EXPECT_EQ(y.scalar_type(), at::kFloat);
  EXPECT_TRUE(y.equal(wide));
  EXPECT_THROW(local_attention(q, k.to(at::kDouble), v, near, 0.5), ShapeError);
}

TEST(LocalAttention, IsPaddedAttentionWithAMask) {
  at::manual_seed(1);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{20, 1, 7});
  const Tensor positions = at::randn({28, 3}, at::kDouble);
  const NearestNodes nearest = nearest_nodes(positions, graphs, 4);
  const Edges near = in_order_of_nodes(nearest),
              other = in_order_of_nodes(nearest_nodes(-positions.sin(), graphs, 3));
  ASSERT_FALSE(nearest.order.equal(at::arange(28)));
  for (const Case& c : cases) {
    const auto x = drawn(c, 28);
    const Tensor y = local_attention(x[0], x[1], x[2], near, 0.7);
    EXPECT_LT(distance(y, masked(x[0], x[1], x[2], near, 0.7)), 1e-13);
    EXPECT_GT(distance(y, masked(x[0], x[1], x[2], other, 0.7)), 1e-3);  // the control
    EXPECT_LT(distance(local_attention(x[0], x[1], x[2], nearest, 0.7), y), 1e-13);
    EXPECT_GT(distance(local_attention(x[0], x[1], x[2], nearest.edges, 0.7), y), 1e-3);  // in another order
    EXPECT_LT(distance(local_attention(x[0], x[1], x[2], nearest_nodes(positions, graphs, 27), 0.7),
                       ragged_attention(x[0], x[1], x[2], graphs, 0.7)),
              1e-13);
    const Tensor single =
        local_attention(x[0].to(at::kFloat), x[1].to(at::kFloat), x[2].to(at::kFloat), near, 0.7);
    EXPECT_EQ(single.scalar_type(), at::kFloat);
    EXPECT_LT(distance(single, y), 1e-5);
    const Tensor half =
        local_attention(x[0].to(at::kBFloat16), x[1].to(at::kBFloat16), x[2].to(at::kBFloat16), near, 0.7);
    EXPECT_EQ(half.scalar_type(), at::kFloat);
    EXPECT_LT(distance(half, y), 0.2);
  }
}

TEST(LocalAttention, DerivativesAreRight) {
  at::manual_seed(2);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{6, 1, 3});
  const NearestNodes near = nearest_nodes(at::randn({10, 3}, at::kDouble), graphs, 2);
  for (const Case& c : cases) {
    const auto of = [&](const std::vector<Tensor>& x) {
      return local_attention(x[0], x[1], x[2], near, 0.7);
    };
    expect_second_gradients(of, drawn(c, 10), {.step = 1e-5, .relative = 1e-5, .samples = 12});
  }
}

TEST(LocalAttention, RefusesWhatDoesNotFit) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const Edges near = nearest_nodes(at::randn({4, 3}), graphs, 2).edges;
  const Tensor x = at::zeros({4, 2, 3});
  EXPECT_THROW(local_attention(at::zeros({3, 2, 3}), x, x, near, 1), ShapeError);
  EXPECT_THROW(local_attention(at::zeros({4, 6}), x, x, near, 1), ShapeError);
  EXPECT_THROW(local_attention(x, at::zeros({4, 3, 3}), x, near, 1), ShapeError);
  EXPECT_THROW(local_attention(x, at::zeros({4, 2, 4}), x, near, 1), ShapeError);
  EXPECT_THROW(local_attention(x, x, at::zeros({4, 2, 3}, at::kDouble), near, 1), ShapeError);
  EXPECT_EQ(
      local_attention(at::zeros({0, 2, 3}), at::zeros({0, 2, 3}), at::zeros({0, 2, 5}),
                      nearest_nodes(at::zeros({0, 3}), Segments::of_sizes(std::vector<int64_t>{}), 2), 1)
          .sizes(),
      (std::vector<int64_t>{0, 2, 5}));
}

}  // namespace local_attention_test
}  // namespace weyl
