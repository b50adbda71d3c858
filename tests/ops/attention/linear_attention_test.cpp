#include "weyl/ops/attention/linear_attention.h"

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/study/allocation_peak.h"

namespace weyl {
namespace {

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

// Graphs of one size, of many, none; one so much longer than the others that it is cut into pieces.
const std::vector<std::vector<int64_t>> batches{
    {3, 0, 5, 1}, {4, 4}, {1}, {0}, {}, {6, 2}, {1, 2, 0, 23, 1, 1, 2, 1}};

TEST(LinearAttention, EqualsItsEquationAndHasRightDerivatives) {
  for (const auto& sizes : batches) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    const Tensor q = wave({n, 2, 3}, 0.1), k = wave({n, 2, 3}, 0.5), v = wave({n, 2, 4}, 0.9);
    const Tensor norm = at::arange(graphs.count(), at::kDouble) + 2;
    const Tensor y = linear_attention(q, k, v, graphs, norm);
    for (int64_t s = 0; s < graphs.count(); ++s) {
      const int64_t a = graphs.offsets[s], b = graphs.offsets[s + 1];
      const Tensor m = at::einsum("nhk,nhv->hkv", {k.slice(0, a, b), v.slice(0, a, b)}) / norm[s];
      EXPECT_TRUE(
          at::allclose(y.slice(0, a, b), at::einsum("nhk,hkv->nhv", {q.slice(0, a, b), m}), 1e-12, 1e-13));
    }
    if (n < 9 || sizes.size() == 8) {
      expect_second_gradients([&](const auto& x) { return linear_attention(x[0], x[1], x[2], graphs, norm); },
                              {q, k, v});
    }
  }
}

TEST(LinearAttention, AResultDoesNotDependOnTheOtherGraphs) {
  const Tensor q = wave({57, 2, 4}, 0.1), k = wave({57, 2, 4}, 0.5), v = wave({57, 2, 4}, 0.9);
  const Tensor inside =
      linear_attention(q, k, v, Segments::of_sizes(std::vector<int64_t>{5, 2, 50})).slice(0, 5, 7);
  const Tensor alone = linear_attention(q.slice(0, 5, 7), k.slice(0, 5, 7), v.slice(0, 5, 7),
                                        Segments::of_sizes(std::vector<int64_t>{2}));
  EXPECT_TRUE(at::allclose(inside, alone, 1e-13, 1e-14));
}

TEST(LinearAttention, MemoryIsThatOfTheRowsNotOfTheLongestGraph) {
  std::vector<int64_t> sizes(200, 4);
  sizes[100] = 4000;
  const Segments graphs = Segments::of_sizes(sizes);
  const Tensor q = wave({graphs.rows(), 2, 8}, 0.1).requires_grad_();
  const AllocationPeak peak;
  const Tensor y = linear_attention(q, q, q, graphs);
  torch::autograd::grad({y.sum()}, {q});
  const int64_t rows = q.numel() * q.element_size(), padded = 200 * 4000 * 2 * 8 * q.element_size();
  EXPECT_LT(peak.bytes(), 20 * rows);  // with everything that the derivative keeps
  EXPECT_GT(padded, 100 * rows);
}

TEST(LinearAttention, WrongShapesAreRefusedInOneLine) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  const Tensor q = wave({3, 2, 4}, 0);
  EXPECT_THROW(linear_attention(q, q, wave({3, 1, 4}, 0), graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, wave({3, 2, 5}, 0), q, graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, q, q.to(at::kFloat), graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, q, q, graphs, wave({2}, 0)), ShapeError);
}

}  // namespace
}  // namespace weyl
