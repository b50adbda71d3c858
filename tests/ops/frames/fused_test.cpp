#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"

namespace weyl {
namespace fused_test {

using at::Tensor;

Tensor wave(std::vector<int64_t> shape, double seed) {
  int64_t count = 1;
  for (const int64_t n : shape) {
    count *= n;
  }
  return ((at::arange(count, at::kDouble) + 1) * 0.7 + seed).sin().view(shape);
}

TEST(BiasGelu, IsTheExactGeluOfTheSum) {
  const Tensor x = wave({5, 12}, 0.1) * 4, b = wave({4}, 0.5);
  const Tensor t = x + b.repeat({3});
  EXPECT_TRUE(at::allclose(bias_gelu(x, b), t * 0.5 * (1 + (t / std::sqrt(2.0)).erf()), 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(bias_gelu(x, {}), at::gelu(x), 1e-13, 1e-14));
  expect_second_gradients([](const auto& in) { return bias_gelu(in[0], in[1]); }, {x, b});
  expect_second_gradients([](const auto& in) { return bias_gelu(in[0], in[1]); }, {x, Tensor()});
  EXPECT_THROW(bias_gelu(x, wave({5}, 0)), ShapeError);
  EXPECT_THROW(bias_gelu(x, b.to(at::kFloat)), ShapeError);
}

TEST(BiasSilu, IsTheSiluOfTheSum) {
  const Tensor x = wave({5, 12}, 0.1) * 4, b = wave({4}, 0.5);
  const Tensor t = x + b.repeat({3});
  EXPECT_TRUE(at::allclose(bias_silu(x, b), t / (1 + (-t).exp()), 1e-13, 1e-14));
  expect_second_gradients([](const auto& in) { return bias_silu(in[0], in[1]); }, {x, b});
  expect_second_gradients([](const auto& in) { return bias_silu(in[0], in[1]); }, {x, Tensor()});
  expect_second_gradients([&](const auto& in) { return bias_silu(x, in[0]); }, {b});
  EXPECT_THROW(bias_silu(x, wave({5}, 0)), ShapeError);
  const Tensor far = at::tensor({-1e4, -200.0, -90.0, 90.0, 200.0, 1e4}, at::kFloat).view({1, 6});
  expect_finite_gradients([](const auto& in) { return bias_silu(in[0], {}); }, {far});
  EXPECT_TRUE(at::allclose(bias_silu(far, {}), at::clamp_min(far, 0), 0, 1e-30));
}

TEST(BiasActivation, EveryLawWithNoise) {
  const Tensor x = wave({5, 12}, 0.1) * 4 + 0.01, b = wave({4}, 0.5), noise = wave({5, 12}, 0.9);
  const Tensor t = x + b.repeat({3});
  const std::pair<ActivationLaw, Tensor> laws[] = {{ActivationLaw::gelu, at::gelu(t)},
                                                   {ActivationLaw::silu, at::silu(t)},
                                                   {ActivationLaw::relu, at::clamp_min(t, 0)},
                                                   {ActivationLaw::mish, t * at::log1p(t.exp()).tanh()}};
  for (const auto& law : laws) {
    EXPECT_TRUE(at::allclose(bias_activation(x, b, law.first), law.second, 1e-13, 1e-14));
    EXPECT_TRUE(at::allclose(bias_activation(x, b, law.first, noise), law.second * noise, 1e-13, 1e-14));
    expect_second_gradients([&](const auto& in) { return bias_activation(in[0], in[1], law.first, noise); },
                            {x, b});
    const Tensor far = at::tensor({-1e4, -200.0, -90.0, 90.0, 200.0, 1e4}, at::kFloat).view({1, 6});
    expect_finite_gradients([&](const auto& in) { return bias_activation(in[0], {}, law.first); }, {far});
    EXPECT_TRUE(at::allclose(bias_activation(far, {}, law.first), at::clamp_min(far, 0), 0, 1e-30));
    EXPECT_TRUE(bias_activation(far * std::nan(""), {}, law.first).isnan().all().item<bool>());
  }
  EXPECT_THROW(bias_activation(x, b, ActivationLaw::relu, noise.narrow(0, 0, 2)), ShapeError);
}

TEST(FrameNorm, NormalisesEveryFrameByItself) {
  const Tensor x = wave({5, 12}, 0.1) * 4, branch = wave({5, 12}, 0.8), b = wave({4}, 0.5),
               w = wave({4}, 1.5);
  const Tensor y = frame_norm(x, {w, b});
  for (int64_t g = 0; g < 3; ++g) {
    const Tensor frame = x.slice(1, 4 * g, 4 * g + 4);
    const Tensor centred = frame - frame.mean(1, true);
    const Tensor want = centred / (centred.pow(2).mean(1, true) + 1e-5).sqrt() * w + b;
    EXPECT_TRUE(at::allclose(y.slice(1, 4 * g, 4 * g + 4), want, 1e-12, 1e-12));
  }
  const NormedSum both = add_branch_and_norm(x, branch, b, {w, b});
  const Tensor sum = x + branch + b.repeat({3});
  EXPECT_TRUE(at::allclose(both.sum, sum, 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(add_branch(x, branch, b), sum, 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(add_branch(x, branch, {}), x + branch, 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(both.normed, frame_norm(sum, {w, b}), 1e-12, 1e-12));
  EXPECT_THROW(add_branch(x, branch.slice(1, 0, 8), b), ShapeError);
}

TEST(FrameNorm, WithoutParametersTheRowIsOneFrame) {
  const Tensor x = wave({5, 12}, 0.1) * 4, branch = wave({5, 12}, 0.8), b = wave({12}, 0.5);
  const auto norm = [](const Tensor& t) {
    const Tensor centred = t - t.mean(1, true);
    return centred / (centred.pow(2).mean(1, true) + 1e-5).sqrt();
  };
  EXPECT_TRUE(at::allclose(frame_norm(x, {}), norm(x), 1e-12, 1e-12));
  const NormedSum both = add_branch_and_norm(x, branch, b);
  EXPECT_TRUE(at::allclose(both.sum, x + branch + b, 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(both.normed, norm(x + branch + b), 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(add_branch_and_norm(x, branch, {}).normed, norm(x + branch), 1e-12, 1e-12));
  expect_second_gradients([](const auto& in) { return frame_norm(in[0], {}); }, {x});
  for (const Tensor& bias : {b, Tensor()}) {
    expect_second_gradients(
        [](const auto& in) {
          const NormedSum y = add_branch_and_norm(in[0], in[1], in[2]);
          return y.sum.pow(2) + y.normed;
        },
        {x, branch, bias});
  }
  EXPECT_THROW(frame_norm(x, {b, {}}), ShapeError);
  EXPECT_THROW(add_branch_and_norm(x, branch, wave({4}, 0.5)), ShapeError);  // a frame of 4 of 12
  EXPECT_EQ(frame_norm(at::zeros({0, 12}, at::kDouble), {}).sizes(), (std::vector<int64_t>{0, 12}));
}

TEST(FrameNorm, OfRootMeanSquares) {
  const Tensor x = wave({5, 12}, 0.1) * 4, w = wave({4}, 1.5), framed = x.view({5, 3, 4});
  const NormLaw law{w, {}, 1e-3, /*centred=*/false};
  const Tensor want = (framed / (framed.pow(2).mean(-1, true) + 1e-3).sqrt() * w).view({5, 12});
  EXPECT_TRUE(at::allclose(frame_norm(x, law), want, 1e-12, 1e-12));
  expect_second_gradients([](const auto& in) { return frame_norm(in[0], {in[1], {}, 1e-3, false}).pow(2); },
                          {x, w});
  expect_second_gradients([](const auto& in) { return frame_norm(in[0], {{}, {}, 1e-3, false}); }, {x});
  EXPECT_THROW(frame_norm(x, {w, w, 1e-3, false}), ShapeError);
}

TEST(FrameNorm, BranchesTimesTheirFactors) {
  const Tensor x = wave({5, 12}, 0.1) * 4, branch = wave({5, 12}, 0.8), b = wave({4}, 0.5),
               w = wave({4}, 1.5), scale = wave({4}, 2.5), rows = wave({5}, 0.2), noise = wave({5, 12}, 1.9);
  const Tensor sum = x + (branch + b.repeat({3})) * scale.repeat({3}) * rows.unsqueeze(1) * noise;
  const BranchFactors factors{scale, rows, noise};
  EXPECT_TRUE(at::allclose(add_branch(x, branch, b, factors), sum, 1e-13, 1e-14));
  const NormedSum both = add_branch_and_norm(x, branch, b, {w, b}, factors);
  EXPECT_TRUE(at::allclose(both.sum, sum, 1e-13, 1e-14));
  EXPECT_TRUE(at::allclose(both.normed, frame_norm(sum, {w, b}), 1e-12, 1e-12));
  for (const Tensor& of_scale : {scale, Tensor()}) {
    expect_second_gradients(
        [&](const auto& in) {
          const NormedSum y = add_branch_and_norm(in[0], in[1], in[2], {in[3], in[4]}, {in[5], rows, noise});
          return y.sum.pow(2) + y.normed;
        },
        {x, branch, b, w, b, of_scale});
    expect_second_gradients(
        [&](const auto& in) { return add_branch(in[0], in[1], in[2], {in[3], rows, {}}).pow(2); },
        {x, branch, b, of_scale});
  }
  EXPECT_THROW(add_branch(x, branch, b, {wave({3}, 0), {}, {}}), ShapeError);
  EXPECT_THROW(add_branch(x, branch, b, {{}, wave({4}, 0), {}}), ShapeError);
}

TEST(FrameNorm, DerivativesAreRight) {
  const Tensor x = wave({3, 8}, 0.1), branch = wave({3, 8}, 0.8), b = wave({4}, 0.5), w = wave({4}, 1.5);
  expect_second_gradients([](const auto& in) { return frame_norm(in[0], {in[1], in[2]}); }, {x, w, b});
  expect_second_gradients([](const auto& in) { return add_branch(in[0], in[1], in[2]).pow(2); },
                          {x, branch, b});
  const auto both = [](const std::vector<Tensor>& in) {
    return add_branch_and_norm(in[0], in[1], in[2], {in[3], in[4]});
  };
  expect_second_gradients([&](const auto& in) { return both(in).normed; }, {x, branch, b, w, b});
  expect_second_gradients([&](const auto& in) { return both(in).sum.pow(2) + both(in).normed; },
                          {x, branch, b, w, b});
  expect_finite_gradients([](const auto& in) { return frame_norm(in[0], {in[1], in[2]}); },
                          {at::zeros({2, 8}, at::kDouble), w, b});  // a frame without variance
}

TEST(RotaryAttention, IsTheCompositionOfItsParts) {
  for (const auto& sizes : {std::vector<int64_t>{3, 0, 5, 1}, {4, 4}, {0}, {1}}) {
    const Segments graphs = Segments::of_sizes(sizes);
    const int64_t n = graphs.rows();
    for (const int64_t parts : {2, 3}) {
      for (const bool values : {false, true}) {
        const Tensor p = wave({n, parts * 16}, 0.1), bias = wave({parts, 8}, 0.4),
                     angles = wave({n, 4, 2}, 0.9) * 3;
        const Tensor x = p.view({n, parts, 2, 8}) + bias.unsqueeze(1);
        const RotaryTable table = rotary_table(angles);
        const auto heads = [&](int64_t i) { return x.select(1, i).reshape({n, 4, 4}); };
        const Tensor q = rotate_pairs(heads(0), table),
                     k = rotate_pairs(parts == 3 ? heads(2) : Tensor(), table);
        const Tensor v = values ? rotate_pairs(heads(1), table) : heads(1);
        Tensor want = ragged_attention(q, k, v, graphs, 0.5);
        want = (values ? rotate_pairs(want, table, true) : want).reshape({n, 16});
        EXPECT_TRUE(
            at::allclose(rotary_attention(p, bias, angles, graphs, 4, 0.5, values), want, 1e-12, 1e-12));
        if (n == 9 || n == 1) {
          expect_second_gradients(
              [&](const auto& in) { return rotary_attention(in[0], in[1], in[2], graphs, 4, 0.5, values); },
              {p, bias, angles}, {.samples = 12});
        }
      }
    }
    const Tensor p = wave({n, 48}, 0.1);
    const auto heads = [&](int64_t i) { return p.slice(1, 16 * i, 16 * i + 16).reshape({n, 4, 4}); };
    EXPECT_TRUE(at::allclose(rotary_attention(p, {}, {}, graphs, 4, 0.5, false),
                             ragged_attention(heads(0), heads(2), heads(1), graphs, 0.5).reshape({n, 16}),
                             1e-12, 1e-12));
  }
}

TEST(RotaryAttention, WrongShapesAreRefused) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3});
  EXPECT_THROW(rotary_attention(wave({3, 32}, 0), {}, {}, graphs, 4, 1, false), ShapeError);
  EXPECT_THROW(rotary_attention(wave({3, 32}, 0), {}, wave({3, 4, 3}, 0), graphs, 4, 1, false), ShapeError);
  EXPECT_THROW(rotary_attention(wave({4, 32}, 0), {}, wave({4, 4, 2}, 0), graphs, 4, 1, false), ShapeError);
}

}  // namespace fused_test
}  // namespace weyl
