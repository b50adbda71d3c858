// Attention in graphs so long that their keys come in several tiles.
#include <ATen/Parallel.h>

#include "tests/closeness.h"
#include "tests/gradients.h"
#include "weyl/kernels/attention/attention.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/attention_forms.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/parallel.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl {
namespace attention_tiles_test {

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

Segments of(const std::vector<int64_t>& sizes) {
  return Segments::of_sizes(sizes);
}

/// Whole eighths, so that their products are exact in float32.
Tensor eighths(std::vector<int64_t> shape, double seed) {
  return (wave(std::move(shape), seed) * 8).round() / 8;
}

/// Queries and keys (n, 1, 4) whose products are exact in float32, and lie near 6000, 0 and -6000: of a query those of
/// a third of the keys near the same one, in the places that `level` says, from key to key.
template <class F>
Tensors with_scores_near(int64_t n, const F& level) {
  Tensor q = eighths({n, 1, 4}, 0.1), k = eighths({n, 1, 4}, 0.5);
  for (int64_t i = 0; i < n; ++i) {
    q[i][0][0] = i % 2 ? 6000 : -6000;
    k[i][0][0] = level(i);
  }
  return {q, k, wave({n, 1, 3}, 0.9).to(at::kFloat).to(at::kDouble)};
}

/// Value, gradients, and the gradients of a fixed sum of these, of the inputs in this dtype.
Tensors through(const Expression& f, const Tensors& inputs, at::ScalarType type) {
  Tensors x;
  for (const Tensor& t : inputs) {
    x.push_back(t.to(type).detach().requires_grad_());
  }
  const Tensor y = f(x), gy = gradients_detail::weights_like(y).to(type).requires_grad_();
  Tensors found{y.detach()};
  const Tensors g = torch::autograd::grad({y}, x, {gy}, /*retain_graph=*/true, /*create_graph=*/true);
  Tensor sum = at::zeros({}, type);
  for (const Tensor& t : g) {
    found.push_back(t.detach());
    sum = sum + (t * gradients_detail::weights_like(t).to(type)).sum();
  }
  x.push_back(gy);
  for (const Tensor& t : torch::autograd::grad({sum}, x, {}, false, false, /*allow_unused=*/true)) {
    found.push_back(t.defined() ? t : at::zeros({1}, type));
  }
  return found;
}

TEST(AttentionTiles, ExtremeScoresAreThoseOfFloat64) {
  constexpr int64_t n = 1300;
  const Segments graphs = of({n});
  // The largest score comes first, last, in the middle, everywhere, and steps up from tile to tile.
  const std::vector<std::pair<const char*, std::function<double(int64_t)>>> orders{
      {"falling", [](int64_t j) { return j < 200   ? 1.0
                                         : j < 900 ? 0.0
                                                   : -1.0; }},
      {"rising", [](int64_t j) { return j < 200   ? -1.0
                                        : j < 900 ? 0.0
                                                  : 1.0; }},
      {"in the middle", [](int64_t j) { return j > 500 && j < 800 ? 1.0 : 0.0; }},
      {"everywhere", [](int64_t j) { return static_cast<double>(j % 3 - 1); }},
      {"in steps", [](int64_t j) { return static_cast<double>(j / 100) / 16 - 0.5; }}};
  for (const auto& [name, level] : orders) {
    const Tensors in = with_scores_near(n, level);
    const Tensors right = through(
        [&](const Tensors& x) { return attention_padded(x[0], x[1], x[2], graphs, 1); }, in, at::kDouble);
    const Expression kernel = [&](const Tensors& x) { return ragged_attention(x[0], x[1], x[2], graphs, 1); };
    EXPECT_GT(at::mm(in[0].squeeze(1), in[1].squeeze(1).t()).abs().max().item<double>(), 2900) << name;
    expect_close(through(kernel, in, at::kDouble), right, 1e-9, std::string(name) + ", float64");
    expect_close(through(kernel, in, at::kFloat), right, 1e-4, std::string(name) + ", float32");
  }
}

TEST(AttentionTiles, AQueryMayBeForbiddenWholeTiles) {
  constexpr int64_t n = 700;
  const Segments graphs = of({n});
  Tensor bias = at::zeros({n, n, 1}, at::kDouble);
  bias.slice(0, 0, 300).slice(1, 0, 600).fill_(-INFINITY);     // the first tiles
  bias.slice(0, 300, 600).slice(1, 50, 700).fill_(-INFINITY);  // the last ones
  const Tensors in{wave({n, 1, 4}, 0.1), wave({n, 1, 4}, 0.5), wave({n, 1, 3}, 0.9)};
  const Tensor flat = bias.view({n * n, 1});
  const auto run = [&](auto attention) {
    return through([&](const Tensors& x) { return attention(x[0], x[1], x[2], graphs, 1.0, flat); }, in,
                   at::kDouble);
  };
  const Tensors found = run(ragged_attention), right = run(attention_padded);
  expect_close(found, right, 1e-11, "forbidden");
  bias.fill_(0);
  EXPECT_GT((run(ragged_attention)[0] - right[0]).abs().max().item<double>(), 1e-3);  // control
}

// Heads so wide that a tile holds some 80 keys, or four times as many; graphs just beyond either.
TEST(AttentionTiles, DerivativesAreRight) {
  const Segments graphs = of({3, 330, 0, 81});
  const int64_t n = graphs.rows();
  const GradientCheck check{.samples = 12};
  for (const int64_t stored : {int64_t{1}, int64_t{2}}) {
    expect_second_gradients(
        [&](const auto& x) { return ragged_attention(x[0], x[1], x[2], graphs, 0.2, x[3]); },
        {wave({n, 2, 48}, 0.1), wave({n, stored, 48}, 0.5), wave({n, stored, 40}, 0.9),
         wave({graphs.pairs(), 2}, 1.3)},
        check);
  }
  expect_second_gradients([&](const auto& x) { return ragged_attention(x[0], x[1], x[2], graphs, 0.2); },
                          {wave({n, 6, 2, 8}, 0.1), wave({n, 6, 2, 8}, 0.5), wave({n, 6, 2, 8}, 0.9)}, check);
  for (const int64_t parts : {2, 3}) {
    expect_second_gradients(
        [&](const auto& x) { return rotary_attention(x[0], x[1], x[2], graphs, 2, 0.2, true); },
        {wave({n, parts * 2 * 48}, 0.1), wave({parts, 24}, 0.5), wave({n, 2, 24}, 0.9)}, check);
  }
}

TEST(AttentionTiles, ALongGraphIsTheSameAmongOthersAndOnManyThreads) {
  const Segments all = of({5, 700, 7}), one = of({700});
  const Tensor x = wave({712, 3 * 3 * 8}, 0.1).to(at::kFloat), angles = wave({712, 3, 4}, 0.5).to(at::kFloat);
  const Tensor whole = rotary_attention(x, {}, angles, all, 3, 0.3, true);
  const int threads = at::get_num_threads();
  at::set_num_threads(3);
  {
    const ShareAll workers;
    EXPECT_TRUE(at::equal(rotary_attention(x, {}, angles, all, 3, 0.3, true), whole));
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(
      at::equal(whole.slice(0, 5, 705),
                rotary_attention(x.slice(0, 5, 705), {}, angles.slice(0, 5, 705), one, 3, 0.3, true)));
}

/// Numbers of scratch memory of a worker, for a derivative.
int64_t scratch(int64_t nodes, int derivative) {
  kernels::AttentionInput<float> in;
  in.key_width = in.value_width = 4;
  const float angle = 0;
  in.angles = &angle;
  return kernels::best<kernels::Attention<float>>().scratch(in, nodes, derivative);
}

TEST(AttentionTiles, MemoryIsThatOfTheRows) {
  constexpr int64_t n = 16384;
  const int64_t row = 3 * 4 * 4, bound = 40 * n * row;  // q, k and v of four floats
  EXPECT_LT(40 * bound, n * n * 4 * 2);                 // a table of pairs is far beyond it
  const Segments graphs = of({n});
  const auto peak_of = [&](const auto& attention, const Segments& segments) {
    Tensors x;
    for (const double seed : {0.1, 0.5, 0.9}) {
      x.push_back(wave({segments.rows(), 1, 4}, seed).to(at::kFloat).requires_grad_());
    }
    const AllocationPeak peak;
    const Tensor y = attention(x[0], x[1], x[2], segments, 0.5);
    const Tensors g = torch::autograd::grad({y.square().sum()}, x, {}, true, true);
    torch::autograd::grad({(g[0] * g[1] * g[2]).sum()}, x);
    return peak.bytes();
  };
  const auto ragged = [](const auto&... of_call) { return ragged_attention(of_call..., {}); };
  EXPECT_LT(peak_of(ragged, graphs), bound);
  for (const int derivative : {0, 1, 2}) {
    EXPECT_LT(scratch(n, derivative) * 4, bound) << derivative;
    EXPECT_LT(scratch(4 * n, derivative), 4 * scratch(n, derivative) + 1) << derivative;
  }
  // Control: the torch expression takes more than the bound already at an eighth of the length.
  EXPECT_GT(peak_of([](const auto&... of_call) { return attention_padded(of_call..., {}); }, of({n / 8})),
            bound);
}

}  // namespace attention_tiles_test
}  // namespace weyl
