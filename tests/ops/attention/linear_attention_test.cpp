#include "weyl/ops/attention/linear_attention.h"

#include <ATen/Parallel.h>

#include "tests/closeness.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/kernels/attention/linear_attention.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl {
namespace linear_attention_test {

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

/// Value, gradients of those inputs that `need` one, and the gradients of a fixed sum of these.
Tensors through(const Tensors& inputs, const std::vector<bool>& need, const Segments& graphs,
                const Tensor& norm) {
  Tensors x, wanted;
  for (size_t i = 0; i < 3; ++i) {
    x.push_back(need[i] ? inputs[i].detach().requires_grad_() : inputs[i]);
    if (need[i]) {
      wanted.push_back(x[i]);
    }
  }
  const Tensor y = linear_attention(x[0], x[1], x[2], graphs, norm);
  const Tensor gy = gradients_detail::weights_like(y).to(y.scalar_type()).requires_grad_();
  Tensors found{y.detach()};
  Tensor sum = at::zeros({}, y.options());
  for (const Tensor& t : torch::autograd::grad({y}, wanted, {gy}, true, true)) {
    found.push_back(t.detach());
    sum = sum + (t * gradients_detail::weights_like(t)).sum();
  }
  wanted.push_back(gy);
  const Tensors second = torch::autograd::grad({sum}, wanted, {}, false, false, /*allow_unused=*/true);
  for (size_t i = 0; i < wanted.size(); ++i) {
    found.push_back(second[i].defined() ? second[i] : at::zeros_like(wanted[i]));
  }
  return found;
}

// The torch expression is the reference, whichever inputs have gradients and however they lie in memory.
TEST(LinearAttention, KernelAndExpressionAgree) {
  for (const auto& sizes : batches) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const auto& [K, V] : {std::pair<int64_t, int64_t>{3, 4}, {8, 16}}) {
      const Tensor joint = wave({n, 2 * (K + V) + 5}, 0.1);  // columns of one matrix
      const Tensors in{joint.narrow(1, 0, 2 * K).unflatten(1, {2, K}),
                       wave({K, n, 2}, 0.4).permute({1, 2, 0}),
                       joint.narrow(1, 2 * K + 3, 2 * V).unflatten(1, {2, V})};
      for (int needs = 1; needs < 8; ++needs) {
        const std::vector<bool> need{(needs & 1) > 0, (needs & 2) > 0, (needs & 4) > 0};
        for (const Tensor& norm : {Tensor(), at::arange(graphs.count(), at::kDouble) + 2}) {
          const Tensors found = through(in, need, graphs, norm);
          const UseReferences expression;
          expect_close(found, through(in, need, graphs, norm), 1e-12, "inputs " + std::to_string(needs));
        }
      }
    }
  }
}

TEST(LinearAttention, ANormMayHaveAGradient) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 2});
  expect_second_gradients([&](const auto& x) { return linear_attention(x[0], x[0], x[1], graphs, x[2]); },
                          {wave({5, 2, 3}, 0.1), wave({5, 2, 4}, 0.9), wave({3}, 0.2) + 2});
}

// Of chunks of rows and what is left of them, with every part of the projections.
TEST(LinearAttention, RotaryDerivativesAreRight) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 37, 1});
  const int64_t n = graphs.rows();
  const Tensor norm = at::arange(graphs.count(), at::kDouble) + 2;
  const GradientCheck check{.samples = 12};
  for (const int64_t parts : {2, 3}) {
    for (const bool values : {false, true}) {
      expect_second_gradients(
          [&](const auto& x) { return rotary_linear_attention(x[0], x[1], x[2], graphs, 2, norm, values); },
          {wave({n, parts * 2 * 6}, 0.1), wave({parts, 4}, 0.5), wave({n, 2, 3}, 0.9)}, check);
    }
  }
  const Tensor maps = wave({n, 24}, 0.1), angles = wave({n, 2, 3}, 0.9);
  // Angles alone, projections alone.
  expect_gradients(
      [&](const auto& x) { return rotary_linear_attention(maps, {}, x[0], graphs, 2, {}, true); }, {angles},
      check);
  expect_gradients(
      [&](const auto& x) { return rotary_linear_attention(x[0], {}, angles, graphs, 2, {}, true); }, {maps},
      check);
  EXPECT_THROW(rotary_linear_attention(maps, {}, angles, graphs, 2, wave({3}, 0), true), ShapeError);
  EXPECT_THROW(rotary_linear_attention(maps, {}, {}, graphs, 2, {}, true), ShapeError);
}

TEST(LinearAttention, AResultDoesNotDependOnTheOtherGraphsOrTheThreads) {
  const Tensor q = wave({257, 3, 4}, 0.1), k = wave({257, 3, 4}, 0.5), v = wave({257, 3, 4}, 0.9);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{5, 2, 250});
  const auto part = [&](int64_t first, int64_t last) {
    return linear_attention(q.slice(0, first, last), k.slice(0, first, last), v.slice(0, first, last),
                            Segments::of_sizes(std::vector<int64_t>{last - first}));
  };
  const auto expect_parts = [&](const auto& same) {
    const Tensor whole = linear_attention(q, k, v, graphs);
    EXPECT_TRUE(same(whole.slice(0, 5, 7), part(5, 7)));
    EXPECT_TRUE(same(whole.slice(0, 7), part(7, 257)));
    return whole;
  };
  const auto close = [](const Tensor& a, const Tensor& b) { return at::allclose(a, b, 1e-11, 1e-12); };
  if (WithoutKernels::active()) {
    expect_parts(close);
    return;
  }
  const Tensor whole = expect_parts([](const Tensor& a, const Tensor& b) { return at::equal(a, b); });
  const int threads = at::get_num_threads();
  for (const int more : {2, 5}) {
    at::set_num_threads(more);
    const ShareAll workers;
    EXPECT_TRUE(at::equal(linear_attention(q, k, v, graphs), whole)) << more;
  }
  at::set_num_threads(threads);
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

// With the derivatives of derivatives, in one graph and in many.
TEST(LinearAttention, MemoryOfAllDerivativesIsThatOfTheRows) {
  for (const auto& sizes : {std::vector<int64_t>{16384}, std::vector<int64_t>(16384, 1)}) {
    const Segments graphs = Segments::of_sizes(sizes);
    Tensors x;
    for (const double seed : {0.1, 0.5, 0.9}) {
      x.push_back(wave({graphs.rows(), 2, 16}, seed).to(at::kFloat).requires_grad_());
    }
    const AllocationPeak peak;
    const Tensor y = linear_attention(x[0], x[1], x[2], graphs);
    const Tensors g = torch::autograd::grad({y.square().sum()}, x, {}, true, true);
    torch::autograd::grad({(g[0] * g[1] * g[2]).sum()}, x);
    // Some thirty tensors of rows; a matrix of each graph and head is sixteen.
    EXPECT_LT(peak.bytes(), (WithoutKernels::active() ? 400 : 40) * y.numel() * y.element_size())
        << sizes.size();
  }
  if (WithoutKernels::active()) {
    return;
  }
  kernels::LinearAttentionInput<float> in;
  in.rows.heads = 2;
  in.rows.key_width = in.rows.value_width = 16;
  EXPECT_LT(kernels::best<kernels::LinearAttention<float>>().scratch(in, 2),
            8000);  // 7 matrices a head, some rows
}

TEST(LinearAttention, WrongShapesAreRefusedInOneLine) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  const Tensor q = wave({3, 2, 4}, 0);
  EXPECT_THROW(linear_attention(q, q, wave({3, 1, 4}, 0), graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, wave({3, 2, 5}, 0), q, graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, q, q.to(at::kFloat), graphs), ShapeError);
  EXPECT_THROW(linear_attention(q, q, q, graphs, wave({2}, 0)), ShapeError);
  EXPECT_THROW(linear_attention(q, q, q, graphs, wave({1, 1}, 0)), ShapeError);
}

}  // namespace linear_attention_test
}  // namespace weyl
