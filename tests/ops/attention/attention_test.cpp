#include "weyl/ops/attention/attention.h"

#include <ATen/Parallel.h>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/attention/attention_forms.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace attention_test {

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

/// Softmax attention, one graph, head and query after another.
Tensor by_loops(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs, double scale,
                const Tensor& bias) {
  Tensor y = at::zeros({q.size(0), q.size(1), v.size(2)}, q.options());
  int64_t first_pair = 0;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    const int64_t a = graphs.offsets[s], n = graphs.size(s);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t h = 0; h < q.size(1); ++h) {
        const int64_t kh = k.size(1) == 1 ? 0 : h, vh = v.size(1) == 1 ? 0 : h;
        Tensor scores = at::mv(k.slice(0, a, a + n).select(1, kh), q[a + i][h]) * scale;
        if (bias.defined()) {
          scores = scores + bias.slice(0, first_pair + i * n, first_pair + i * n + n).select(1, h);
        }
        y[a + i][h] = at::mv(v.slice(0, a, a + n).select(1, vh).t(), scores.softmax(0));
      }
    }
    first_pair += n * n;
  }
  return y;
}

const std::vector<std::vector<int64_t>> batches{{3, 0, 5, 1}, {4, 4}, {1}, {0}, {}, {6, 2}};

TEST(RaggedAttention, EqualsPlainLoops) {
  for (const auto& sizes : batches) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const int64_t shared : {int64_t{0}, int64_t{1}}) {
      const int64_t h = shared ? 1 : 3;
      const Tensor q = wave({n, 3, 4}, 0.1), k = wave({n, h, 4}, 0.5), v = wave({n, h, 5}, 0.9);
      for (const Tensor& bias : {Tensor(), wave({graphs.pairs(), 3}, 1.3)}) {
        const Tensor y = ragged_attention(q, k, v, graphs, 0.5, bias);
        ASSERT_EQ(y.sizes(), (std::vector<int64_t>{n, 3, 5}));
        EXPECT_TRUE(at::allclose(y, by_loops(q, k, v, graphs, 0.5, bias), 1e-12, 1e-13));
        const Tensor f = ragged_attention(q.to(at::kFloat), k.to(at::kFloat), v.to(at::kFloat), graphs, 0.5,
                                          bias.defined() ? bias.to(at::kFloat) : bias);
        EXPECT_TRUE(at::allclose(f.to(at::kDouble), y, 1e-5, 2e-6));
      }
    }
  }
}

/// The value and, given weights on it, the gradients of q, k, v and, where there is one, the bias.
template <class F>
Tensors value_and_gradients(const F& attention, Tensors inputs) {
  Tensors wanted;
  for (Tensor& x : inputs) {
    x = x.defined() ? x.detach().requires_grad_() : x;
    if (x.defined()) {
      wanted.push_back(x);
    }
  }
  const Tensor y = attention(inputs);
  Tensors found = torch::autograd::grad({y}, wanted, {wave(y.sizes().vec(), 2.1)});
  found.push_back(y.detach());
  return found;
}

TEST(RaggedAttention, KernelPairsAndPaddingAgree) {
  for (const auto& sizes : batches) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const int64_t h : {int64_t{1}, int64_t{3}}) {
      for (const bool biased : {false, true}) {
        const Tensors inputs{wave({n, 3, 4}, 0.1), wave({n, h, 4}, 0.5), wave({n, h, 5}, 0.9),
                             biased ? wave({graphs.pairs(), 3}, 1.3) : Tensor()};
        const auto through = [&](auto attention) {
          return value_and_gradients(
              [&](const Tensors& x) { return attention(x[0], x[1], x[2], graphs, 0.5, x[3]); }, inputs);
        };
        const Tensors kernel = through(ragged_attention), pairs = through(attention_by_pairs),
                      padded = through(attention_padded);
        for (size_t i = 0; i < kernel.size(); ++i) {
          EXPECT_TRUE(at::allclose(pairs[i], kernel[i], 1e-12, 1e-13)) << "by pairs, " << i;
          EXPECT_TRUE(at::allclose(padded[i], kernel[i], 1e-12, 1e-13)) << "padded, " << i;
          EXPECT_TRUE(at::allclose(padded[i], pairs[i], 1e-12, 1e-13)) << "padded and by pairs, " << i;
        }
        const UseReferences definition;
        EXPECT_TRUE(at::equal(ragged_attention(inputs[0], inputs[1], inputs[2], graphs, 0.5, inputs[3]),
                              pairs.back()));
      }
    }
  }
}

TEST(RaggedAttention, DropoutOfWeightsDropsTheShareAskedForAndKeepsTheMean) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 5});
  const Tensor q = wave({8, 2, 4}, 0.1), k = wave({8, 2, 4}, 0.5), v = wave({8, 2, 3}, 0.9);
  const Tensor whole = ragged_attention(q, k, v, graphs, 0.5);
  const auto dropped = [&](double rate) { return ragged_attention_with_dropout(q, k, v, graphs, 0.5, rate); };
  EXPECT_LT((dropped(0) - whole).abs().max().item<double>(), 1e-14);
  at::manual_seed(2);
  constexpr int draws = 4000;
  Tensor mean = at::zeros_like(whole), squares = at::zeros_like(whole);
  for (int i = 0; i < draws; ++i) {
    const Tensor y = dropped(0.3);
    mean += y / draws;
    squares += y * y / draws;
  }
  const Tensor error = ((squares - mean * mean) / draws).sqrt();
  EXPECT_LT(((mean - whole).abs() / error).max().item<double>(), 5);
  EXPECT_GT(error.min().item<double>(), 0);
  // Of one node alone the only weight is 1: its value, divided by 1 - dropout, or nothing.
  const Segments alone = Segments::of_sizes(std::vector<int64_t>(2000, 1));
  const Tensor ones = at::ones({2000, 1, 2}, at::kDouble);
  const Tensor y = ragged_attention_with_dropout(ones, ones, ones, alone, 1, 0.3).select(2, 0).flatten();
  EXPECT_NEAR(y.ne(0).to(at::kDouble).mean().item<double>(), 0.7, 0.05);
  EXPECT_LT((y.masked_select(y.ne(0)) - 1 / 0.7).abs().max().item<double>(), 1e-12);
  EXPECT_THROW(dropped(1), ShapeError);
  EXPECT_THROW(ragged_attention_with_dropout(q, k.narrow(1, 0, 1), v, graphs, 0.5, 0.1), ShapeError);
}

TEST(RaggedAttention, ADtypeWithoutKernelsIsWorkedOutInFloat32OrPadded) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 5});
  const Tensor q = wave({8, 2, 4}, 0.1).to(at::kBFloat16), f = q.to(at::kFloat);
  if (!WithoutKernels::active()) {
    const Tensor y = ragged_attention(q, q, q, graphs, 1);
    EXPECT_TRUE(at::equal(y, ragged_attention(f, f, f, graphs, 1).to(at::kBFloat16)));
    EXPECT_FALSE(at::equal(y, attention_padded(q, q, q, graphs, 1)));  // control: more is rounded there
  }
  const WithoutKernels none;
  const Tensor y = ragged_attention(q, q, q, graphs, 1);
  EXPECT_TRUE(at::equal(y, attention_padded(q, q, q, graphs, 1)));
  EXPECT_FALSE(at::equal(y, attention_by_pairs(q, q, q, graphs, 1)));  // control: another order of rounding
}

// Heads that share keys add to one gradient; of fewer graphs than workers, each head to its own.
TEST(RaggedAttention, SharedHeadsHaveTheSameGradientsOnManyThreads) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{5, 9});
  const Tensors in{wave({14, 6, 4}, 0.1), wave({14, 1, 4}, 0.5), wave({14, 1, 5}, 0.9)};
  const auto derivatives = [&] {
    Tensors x;
    for (const Tensor& t : in) {
      x.push_back(t.detach().requires_grad_());
    }
    const Tensor y = ragged_attention(x[0], x[1], x[2], graphs, 0.5);
    Tensors found = torch::autograd::grad({(y * wave(y.sizes().vec(), 2.1)).sum()}, x, {}, true, true);
    const Tensors second =
        torch::autograd::grad({(found[0].sum() + found[1].sin().sum() + found[2].sum())}, x);
    found.insert(found.end(), second.begin(), second.end());
    return found;
  };
  const Tensors together = derivatives();
  const int threads = at::get_num_threads();
  at::set_num_threads(5);
  {
    const ShareAll workers;
    const Tensors apart = derivatives();
    for (size_t i = 0; i < apart.size(); ++i) {
      EXPECT_TRUE(at::allclose(apart[i], together[i], 1e-12, 1e-13)) << i;
    }
  }
  at::set_num_threads(threads);
}

TEST(RaggedAttention, DerivativesAreRight) {
  for (const auto& sizes : {std::vector<int64_t>{3, 0, 2, 1}, std::vector<int64_t>{2, 2}}) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const int64_t h : {int64_t{1}, int64_t{2}}) {
      expect_second_gradients(
          [&](const auto& x) { return ragged_attention(x[0], x[1], x[2], graphs, 0.6, x[3]); },
          {wave({n, 2, 3}, 0.1), wave({n, h, 3}, 0.5), wave({n, h, 2}, 0.9), wave({graphs.pairs(), 2}, 1.3)});
    }
    expect_second_gradients([&](const auto& x) { return ragged_attention(x[0], x[1], x[2], graphs, 0.6); },
                            {wave({n, 2, 3}, 0.1), wave({n, 2, 3}, 0.5), wave({n, 2, 2}, 0.9)});
  }
}

// Heads whose rows lie in parts are heads of one long row each, however the tensors are strided.
TEST(RaggedAttention, RowsInPartsAreLongRows) {
  const auto whole = [](const Tensor& x) {
    return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
  };
  for (const auto& sizes : batches) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const int64_t heads : {1, 2, 5}) {
      for (const int64_t width : {3, 8, 16}) {
        const Tensors maps = wave({n, 3, 3 * heads * width}, 0.1).chunk(3, -1);
        const auto part = [&](size_t i, int64_t w) {
          return maps[i].unflatten(-1, {heads, width}).narrow(-1, 0, w);
        };
        const Tensors in{part(0, width), part(1, width), part(2, width - 1),
                         wave({graphs.pairs(), heads}, 1.3)};
        const auto in_parts = [&](const Tensors& x) {
          return ragged_attention(x[0], x[1], x[2], graphs, 0.6, x[3]);
        };
        const auto in_one = [&](const Tensors& x) {
          return ragged_attention(whole(x[0]), whole(x[1]), whole(x[2]), graphs, 0.6, x[3])
              .view({n, heads, 3, width - 1})
              .transpose(1, 2);
        };
        const Tensors found = value_and_gradients(in_parts, in), right = value_and_gradients(in_one, in);
        for (size_t i = 0; i < found.size(); ++i) {
          EXPECT_TRUE(at::allclose(found[i], right[i], 1e-12, 1e-13)) << i;
        }
        const UseReferences definition;
        EXPECT_TRUE(at::allclose(in_parts(in), right.back(), 1e-12, 1e-13));
      }
    }
  }
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 2, 1});
  expect_second_gradients(
      [&](const auto& x) { return ragged_attention(x[0], x[1], x[2], graphs, 0.6, x[3]); },
      {wave({6, 3, 2, 2}, 0.1), wave({6, 3, 2, 2}, 0.5), wave({6, 3, 2, 1}, 0.9), wave({14, 2}, 1.3)});
}

TEST(RaggedAttention, AResultDoesNotDependOnTheOtherGraphs) {
  const Segments all = Segments::of_sizes(std::vector<int64_t>{5, 2, 7}),
                 one = Segments::of_sizes(std::vector<int64_t>{2});
  const Tensor q = wave({14, 2, 4}, 0.1), k = wave({14, 2, 4}, 0.5), v = wave({14, 2, 4}, 0.9);
  const Tensor inside = ragged_attention(q, k, v, all, 1).slice(0, 5, 7);
  const Tensor alone = ragged_attention(q.slice(0, 5, 7), k.slice(0, 5, 7), v.slice(0, 5, 7), one, 1);
  EXPECT_TRUE(at::allclose(inside, alone, 1e-13, 1e-14));
}

TEST(RaggedAttention, WrongShapesAreRefusedInOneLine) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  const Tensor q = wave({3, 2, 4}, 0);
  EXPECT_THROW(ragged_attention(q, wave({3, 2, 5}, 0), q, graphs, 1), ShapeError);
  EXPECT_THROW(ragged_attention(q, q.to(at::kFloat), q, graphs, 1), ShapeError);
  EXPECT_THROW(ragged_attention(q, q, q, graphs, 1, wave({8, 2}, 0)), ShapeError);
  EXPECT_THROW(ragged_attention(wave({4, 2, 4}, 0), q, q, graphs, 1), ShapeError);
  const Tensor vectors = wave({3, 3, 2, 4}, 0);
  EXPECT_THROW(ragged_attention(vectors, q, q, graphs, 1), ShapeError);
  EXPECT_THROW(ragged_attention(vectors, vectors, wave({3, 3, 1, 4}, 0), graphs, 1), ShapeError);
  EXPECT_THROW(ragged_attention(vectors, vectors, wave({3, 2, 2, 4}, 0), graphs, 1), ShapeError);
  EXPECT_THROW(ragged_attention(vectors, vectors, vectors, graphs, 1, wave({9, 3}, 0)), ShapeError);
}

TEST(Rotary, RotatesPairsAndUndoesItself) {
  const Tensor angles = wave({3, 2, 4}, 0.2) * 3, x = wave({3, 2, 8}, 0.9);
  const RotaryTable table = rotary_table(angles);
  const Tensor y = rotate_pairs(x, table);
  EXPECT_NEAR(y[1][1][2].item<double>(),
              (x[1][1][2] * angles[1][1][1].cos() - x[1][1][3] * angles[1][1][1].sin()).item<double>(),
              1e-14);
  EXPECT_NEAR(y[1][1][3].item<double>(),
              (x[1][1][2] * angles[1][1][1].sin() + x[1][1][3] * angles[1][1][1].cos()).item<double>(),
              1e-14);
  EXPECT_LT((rotate_pairs(y, table, true) - x).abs().max().item<double>(), 1e-15);
  EXPECT_TRUE(at::allclose(rotate_pairs({}, table), rotate_pairs(at::ones_like(x), table)));
  EXPECT_GT((rotate_pairs(y, table) - x).abs().max().item<double>(), 0.1);  // control: not an involution
}

TEST(Rotary, DerivativesAreRight) {
  for (const bool inverse : {false, true}) {
    expect_second_gradients(
        [&](const auto& x) { return rotate_pairs(x[0], rotary_table(x[1]), inverse).sin(); },
        {wave({2, 2, 4}, 0.9), wave({2, 2, 2}, 0.1)});
    expect_second_gradients(
        [&](const auto& x) { return rotate_pairs({}, rotary_table(x[0]), inverse).sin(); },
        {wave({2, 2, 2}, 0.1)});
  }
}

TEST(Rotary, RowsOfEveryWidthAndColumnsOfWiderOnesAreTheExpression) {
  for (const auto dtype : {at::kDouble, at::kFloat}) {
    const double rounding = dtype == at::kDouble ? 1e-14 : 1e-6;
    for (const int64_t pairs : {1, 3, 8, 11}) {
      const Tensor wide = wave({5, 3, 2, 2 * pairs}, 0.4).to(dtype);
      const RotaryTable table = rotary_table(wave({5, 2, pairs}, 0.1).to(dtype) * 3);
      for (const Tensor& x : {wide.select(1, 1), Tensor()}) {
        for (const bool inverse : {false, true}) {
          const auto all = [&](bool expression) {
            std::optional<UseReferences> plain;
            if (expression) {
              plain.emplace();
            }
            Tensors inputs{table.cosine.detach().requires_grad_(), table.sine.detach().requires_grad_()};
            if (x.defined()) {
              inputs.push_back(x.detach().requires_grad_());
            }
            const Tensor y = rotate_pairs(x.defined() ? inputs[2] : x, {inputs[0], inputs[1]}, inverse);
            const Tensor weights = wave(y.sizes().vec(), 2.1).to(dtype);
            const Tensors first = torch::autograd::grad({(y * y * weights).sum()}, inputs, {}, true, true);
            Tensor sum = at::zeros({}, y.options());
            for (const Tensor& g : first) {
              sum = sum + (g * wave(g.sizes().vec(), 0.7).to(dtype)).sum();
            }
            Tensors results = torch::autograd::grad({sum}, inputs);
            results.insert(results.end(), first.begin(), first.end());
            results.push_back(y);
            return results;
          };
          const Tensors kernel = all(false), expression = all(true);
          for (size_t i = 0; i < kernel.size(); ++i) {
            EXPECT_LT((kernel[i] - expression[i]).abs().max().item<double>(), 30 * rounding)
                << pairs << " pairs, " << i;
          }
        }
      }
    }
  }
}

TEST(Rotary, HalfPrecisionFeaturesUseFloatAngles) {
  const RotaryTable table = rotary_table(at::full({1, 1, 1}, 101.3, at::kFloat));
  const Tensor y = rotate_pairs(at::ones({1, 1, 2}, at::kBFloat16), table);
  EXPECT_EQ(y.scalar_type(), at::kBFloat16);
  EXPECT_NEAR(y[0][0][0].item<double>(), std::cos(101.3) - std::sin(101.3), 0.01);
  EXPECT_THROW(rotary_table(at::zeros({1, 1, 1}, at::kBFloat16)), ShapeError);
}

}  // namespace attention_test
}  // namespace weyl
