// Half of the heads inside objects, half over whole graphs: against the definition with a dense mask for each head.
#include "weyl/ops/attention/attention.h"

#include <limits>

#include "tests/gradients.h"
#include "weyl/core/check.h"

namespace weyl {
namespace hierarchical_attention_test {

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

struct Scenes {
  Segments graphs, objects;
};

Scenes scenes(const std::vector<int64_t>& graphs, const std::vector<int64_t>& objects) {
  return {Segments::of_sizes(graphs), Segments::of_sizes(objects)};
}

const std::vector<Scenes> batches{scenes({5, 0, 3, 4}, {2, 3, 3, 1, 3}), scenes({4}, {1, 1, 1, 1}),
                                  scenes({6, 2}, {6, 2}), scenes({1}, {1})};

/// Softmax over all nodes of the batch, with minus infinity where a head does not look: first the heads that look
/// inside objects, or last.
Tensor masked(const Tensor& q, const Tensor& k, const Tensor& v, const Scenes& s, double scale,
              bool objects_first = true) {
  const int64_t heads = q.size(1);
  const auto same = [](const Segments& x) { return x.index.unsqueeze(1).eq(x.index.unsqueeze(0)); };
  std::vector<Tensor> results;
  for (int64_t h = 0; h < heads; ++h) {
    const auto head = [&](const Tensor& x) { return x.select(1, x.size(1) == 1 ? 0 : h); };
    const bool inside = (h < heads / 2) == objects_first;
    const Tensor seen = same(inside ? s.objects : s.graphs);
    const Tensor scores = (at::matmul(head(q), head(k).t()) * scale)
                              .masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
    results.push_back(at::matmul(scores.softmax(-1), head(v)));
  }
  return at::stack(results, 1);
}

TEST(HierarchicalAttention, EqualsAMaskForEachHead) {
  for (const Scenes& s : batches) {
    const int64_t n = s.graphs.rows();
    for (const int64_t heads : {2, 4}) {
      for (const int64_t stored : {int64_t{1}, heads}) {
        const Tensor q = wave({n, heads, 3}, 0.1) * 2, k = wave({n, stored, 3}, 0.5) * 2,
                     v = wave({n, stored, 5}, 0.9);
        const Tensor y = hierarchical_attention(q, k, v, s.graphs, s.objects, 0.7);
        ASSERT_EQ(y.sizes(), (std::vector<int64_t>{n, heads, 5}));
        EXPECT_LT((y - masked(q, k, v, s, 0.7)).abs().max().item<double>(), 1e-13);
        const Tensor f = hierarchical_attention(q.to(at::kFloat), k.to(at::kFloat), v.to(at::kFloat),
                                                s.graphs, s.objects, 0.7);
        EXPECT_LT((f.to(at::kDouble) - y).abs().max().item<double>(), 2e-6);
      }
    }
  }
}

// Controls: neither all heads over the graph, nor the other half inside objects, is the same.
TEST(HierarchicalAttention, IsNotGlobalAndTheFirstHalfIsTheOneInside) {
  const Scenes& s = batches.front();
  const Tensor q = wave({12, 4, 3}, 0.1) * 2, k = wave({12, 4, 3}, 0.5) * 2, v = wave({12, 4, 5}, 0.9);
  const Tensor y = hierarchical_attention(q, k, v, s.graphs, s.objects, 0.7);
  EXPECT_GT((y - ragged_attention(q, k, v, s.graphs, 0.7)).abs().max().item<double>(), 0.1);
  EXPECT_GT((y - masked(q, k, v, s, 0.7, /*objects_first=*/false)).abs().max().item<double>(), 0.1);
}

TEST(HierarchicalAttention, ReadsViewsOfOneProductAndRowsInParts) {
  const Scenes& s = batches.front();
  const Tensor all = wave({12, 3, 4, 6}, 0.1);  // q, k and v of a node side by side
  const auto part = [&](int64_t i) { return all.select(1, i); };
  const Tensor y = hierarchical_attention(part(0), part(1), part(2), s.graphs, s.objects, 0.7);
  EXPECT_TRUE(at::equal(y, hierarchical_attention(part(0).contiguous(), part(1).contiguous(),
                                                  part(2).contiguous(), s.graphs, s.objects, 0.7)));
  const auto in_parts = [](const Tensor& x) { return x.view({12, 4, 2, 3}).transpose(1, 2); };
  const Tensor z = hierarchical_attention(in_parts(part(0)), in_parts(part(1)), in_parts(part(2)), s.graphs,
                                          s.objects, 0.7);
  EXPECT_LT((z.transpose(1, 2).reshape({12, 4, 6}) - y).abs().max().item<double>(), 1e-13);
}

TEST(HierarchicalAttention, DerivativesAreRight) {
  const Scenes s = scenes({4, 2}, {1, 3, 2});
  for (const int64_t stored : {1, 4}) {
    expect_second_gradients(
        [&](const auto& in) { return hierarchical_attention(in[0], in[1], in[2], s.graphs, s.objects, 0.7); },
        {wave({6, 4, 2}, 0.1), wave({6, stored, 2}, 0.5), wave({6, stored, 3}, 0.9)});
  }
}

TEST(HierarchicalAttention, AnotherSceneOrObjectChangesNothing) {
  const Scenes s = scenes({5, 4}, {2, 3, 4}), alone = scenes({5}, {2, 3});
  const Tensor q = wave({9, 2, 3}, 0.1), k = wave({9, 2, 3}, 0.5), v = wave({9, 2, 4}, 0.9);
  const Tensor y = hierarchical_attention(q, k, v, s.graphs, s.objects, 1);
  EXPECT_TRUE(
      at::equal(y.slice(0, 0, 5), hierarchical_attention(q.slice(0, 0, 5), k.slice(0, 0, 5), v.slice(0, 0, 5),
                                                         alone.graphs, alone.objects, 1)));
  Tensor other = v.clone();
  other.slice(0, 2, 5).add_(1);  // the second object of the first scene
  const Tensor moved = hierarchical_attention(q, k, other, s.graphs, s.objects, 1);
  const auto of_first_object = [](const Tensor& x, int64_t head) { return x.slice(0, 0, 2).select(1, head); };
  EXPECT_TRUE(at::equal(of_first_object(moved, 0), of_first_object(y, 0)));
  EXPECT_FALSE(at::equal(of_first_object(moved, 1), of_first_object(y, 1)));
}

TEST(HierarchicalAttention, AnEmptyBatchGivesNothing) {
  const Tensor x = at::zeros({0, 2, 3}, at::kDouble);
  const Scenes none = scenes({0, 0}, {});
  EXPECT_EQ(hierarchical_attention(x, x, x, none.graphs, none.objects, 1).sizes(), x.sizes());
  EXPECT_EQ(hierarchical_attention(x, x, x, none.graphs, Segments{}, 1).sizes(), x.sizes());
}

TEST(HierarchicalAttention, RefusesOddHeadsAndInputsWithoutObjects) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const auto refusal = [&](int64_t heads, const Segments& objects) {
    try {
      const Tensor x = wave({4, heads, 3}, 0.1);
      hierarchical_attention(x, x, x, graphs, objects, 1);
    } catch (const ShapeError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(2, graphs), "");
  EXPECT_EQ(refusal(3, graphs), "hierarchical_attention: the number of heads must be even, got 3");
  EXPECT_EQ(refusal(1, graphs), "hierarchical_attention: the number of heads must be even, got 1");
  EXPECT_EQ(refusal(2, Segments{}), "hierarchical_attention: objects must hold all 4 nodes, got 0");
  const Tensor q = wave({4, 4, 3}, 0.1), k = wave({4, 2, 3}, 0.1);
  EXPECT_THROW(hierarchical_attention(q, k, q, graphs, graphs, 1), ShapeError);
}

}  // namespace hierarchical_attention_test
}  // namespace weyl
