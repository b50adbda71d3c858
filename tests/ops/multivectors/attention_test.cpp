#include "weyl/ops/multivectors/attention.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/autocast.h"
#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"

namespace weyl {
namespace attention_test {

using at::Tensor;

constexpr double epsilon = 1e-3;
constexpr int64_t heads = 2, channels = 3, scalars = 4;

Tensor random(std::vector<int64_t> shape) {
  return at::randn(shape, at::kDouble);
}

MultivectorsAndScalars tokens_of(int64_t n, int64_t h) {
  return {random({16, n, channels * h}), random({n, scalars * h})};
}

/// The logit of query i and key j in head h, as the definition has it.
double logit(const MultivectorsAndScalars& q, const MultivectorsAndScalars& k, const Tensor& log_weights,
             int64_t i, int64_t j, int64_t h, bool multi_query) {
  const int64_t stored = multi_query ? 1 : heads, kh = multi_query ? 0 : h;
  double sum = 0;
  for (int64_t c = 0; c < channels; ++c) {
    const Tensor a = q.multivectors.select(1, i).select(1, c * heads + h),
                 b = k.multivectors.select(1, j).select(1, c * stored + kh);
    for (const int64_t e : {0, 2, 3, 4, 8, 9, 10}) {
      sum += (a[e] * b[e]).item<double>();
    }
    const auto normalised = [](const Tensor& x) {
      const Tensor t = x.slice(0, 11, 15), v = t[3];
      return t * v / (v * v + epsilon);
    };
    const Tensor t = normalised(a), s = normalised(b);
    const double distance = -(t[3] * s - s[3] * t).square().sum().item<double>();
    sum += log_weights[h][c].exp().item<double>() * distance;
  }
  for (int64_t s = 0; s < scalars; ++s) {
    sum += (q.scalars[i][s * heads + h] * k.scalars[j][s * stored + kh]).item<double>();
  }
  return sum / std::sqrt(12.0 * channels + scalars);
}

TEST(MultivectorAttention, IsTheDefinition) {
  at::manual_seed(1);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 0, 4});
  const int64_t n = graphs.rows();
  const Tensor log_weights = random({heads, channels});
  for (const bool multi_query : {true, false}) {
    const int64_t stored = multi_query ? 1 : heads;
    MultivectorsAndScalars q = tokens_of(n, heads), k = tokens_of(n, stored), v = tokens_of(n, stored);
    // Where e123 is small epsilon counts, and where it is 0 there is no distance.
    q.multivectors[14].slice(0, 0, 2) *= 0.03;
    k.multivectors[14].slice(0, 1, 3) *= 0.03;
    k.multivectors[14][4].zero_();
    const MultivectorsAndScalars y = multivector_attention(q, k, v, log_weights, graphs, heads, epsilon);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t first = i < 3 ? 0 : 3, last = i < 3 ? 3 : n;
      for (int64_t h = 0; h < heads; ++h) {
        Tensor scores = at::empty({last - first}, at::kDouble);
        for (int64_t j = first; j < last; ++j) {
          scores[j - first] = logit(q, k, log_weights, i, j, h, multi_query);
        }
        const Tensor weights = scores.softmax(0);
        const int64_t kh = multi_query ? 0 : h;
        for (int64_t c = 0; c < channels; ++c) {
          const Tensor rows = v.multivectors.slice(1, first, last).select(2, c * stored + kh);  // (16, n)
          EXPECT_TRUE(at::allclose(y.multivectors.select(1, i).select(1, h * channels + c),
                                   at::mv(rows, weights), 1e-10, 1e-11));
        }
        for (int64_t s = 0; s < scalars; ++s) {
          const Tensor column = v.scalars.slice(0, first, last).select(1, s * stored + kh);
          EXPECT_NEAR(y.scalars[i][h * scalars + s].item<double>(), at::dot(column, weights).item<double>(),
                      1e-11);
        }
      }
    }
  }
}

TEST(MultivectorAttention, PartsAreThoseOfTheWhole) {
  at::manual_seed(2);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 4});
  const int64_t n = graphs.rows();
  const MultivectorsAndScalars q = tokens_of(n, heads), k = tokens_of(n, 1), v = tokens_of(n, 1);
  const Tensor log_weights = random({heads, 1, channels});
  const Tensor queries = multivector_queries(q, log_weights, heads), keys = multivector_keys(k, 1),
               values = multivector_values(v, 1);
  EXPECT_EQ(queries.sizes(), at::IntArrayRef({n, heads, 12 * channels + scalars}));
  EXPECT_EQ(values.sizes(), at::IntArrayRef({n, 1, 16 * channels + scalars}));
  std::vector<Tensor> halves;
  for (int64_t h = 0; h < heads; ++h) {
    halves.push_back(ragged_attention(queries.narrow(1, h, 1), keys, values, graphs,
                                      multivector_attention_scale(channels, scalars)));
  }
  const MultivectorsAndScalars found = of_multivector_heads(at::cat(halves, 1), channels),
                               right = multivector_attention(q, k, v, log_weights, graphs, heads);
  EXPECT_TRUE(at::allclose(found.multivectors, right.multivectors, 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(found.scalars, right.scalars, 1e-12, 1e-12));
}

TEST(MultivectorAttention, DoesNotSeeOtherGraphs) {
  at::manual_seed(3);
  const MultivectorsAndScalars q = tokens_of(7, heads), k = tokens_of(7, 1), v = tokens_of(7, 1);
  const Tensor log_weights = random({heads, channels});
  const Segments all = Segments::of_sizes(std::vector<int64_t>{2, 5}),
                 one = Segments::of_sizes(std::vector<int64_t>{5});
  const Tensor right =
      multivector_attention(q, k, v, log_weights, all, heads).multivectors.slice(1, 2, 7).clone();
  const auto rest = [](const MultivectorsAndScalars& x) {
    return MultivectorsAndScalars{x.multivectors.slice(1, 2, 7), x.scalars.slice(0, 2, 7)};
  };
  const Tensor alone = multivector_attention(rest(q), rest(k), rest(v), log_weights, one, heads).multivectors;
  EXPECT_TRUE(at::allclose(alone, right, 1e-11, 1e-12));  // expressions sum padded rows in another order
  for (const MultivectorsAndScalars& x : {q, k, v}) {
    x.multivectors.slice(1, 0, 2) *= -3;
    x.scalars.slice(0, 0, 2) += 1;
  }
  const Tensor beside_others = multivector_attention(q, k, v, log_weights, all, heads).multivectors;
  EXPECT_TRUE(at::equal(beside_others.slice(1, 2, 7), right));  // to the bit
}

TEST(MultivectorAttention, DerivativesAreRight) {
  at::manual_seed(4);
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{3, 1});
  for (const int64_t stored : {int64_t{1}, heads}) {
    const MultivectorsAndScalars q = tokens_of(4, heads), k = tokens_of(4, stored), v = tokens_of(4, stored);
    const Tensor log_weights = random({heads, channels}) * 0.3;
    const auto all = [&](const std::vector<Tensor>& in) {
      const MultivectorsAndScalars y =
          multivector_attention({in[0], in[1]}, {in[2], in[3]}, {in[4], in[5]}, in[6], graphs, heads, 0.3);
      return at::cat({y.multivectors.flatten(), y.scalars.flatten()});
    };
    expect_second_gradients(
        all, {q.multivectors, q.scalars, k.multivectors, k.scalars, v.multivectors, v.scalars, log_weights},
        {.step = 1e-5, .relative = 1e-5, .absolute = 1e-6, .samples = 16});
  }
}

TEST(MultivectorAttention, DerivativesOfFeaturesAreRight) {
  at::manual_seed(5);
  const MultivectorsAndScalars x = tokens_of(3, heads);
  const Tensor log_weights = random({heads, channels}) * 0.3, y = random({3, heads, 16 * channels + scalars});
  const GradientCheck check{.step = 1e-5, .relative = 1e-5, .absolute = 1e-6, .samples = 48};
  expect_second_gradients(
      [](const auto& in) { return multivector_queries({in[0], in[1]}, in[2], heads, 0.2).pow(2); },
      {x.multivectors, x.scalars, log_weights}, check);
  expect_second_gradients(
      [&](const auto& in) {
        return multivector_queries({x.multivectors, x.scalars}, in[0], heads, 0.2).pow(2);
      },
      {log_weights}, check);
  expect_second_gradients([](const auto& in) { return multivector_keys({in[0], {}}, heads, 0.2).pow(2); },
                          {x.multivectors}, check);
  expect_second_gradients([](const auto& in) { return multivector_values({in[0], in[1]}, heads).pow(2); },
                          {x.multivectors, x.scalars}, check);
  expect_second_gradients(
      [](const auto& in) {
        const MultivectorsAndScalars z = of_multivector_heads(in[0], channels);
        return at::cat({z.multivectors.flatten(), z.scalars.flatten()}).pow(2);
      },
      {y}, check);
  // Where there is no e123, as in a token without a point, and where there is no number at all.
  Tensor flat = x.multivectors.clone();
  flat[14].zero_();
  for (const Tensor& at : {flat, at::zeros_like(flat)}) {
    expect_finite_gradients([&](const auto& in) { return multivector_keys({in[0], {}}, heads, epsilon); },
                            {at});
    expect_finite_gradients(
        [&](const auto& in) { return multivector_queries({in[0], {}}, in[1], heads, epsilon); },
        {at, log_weights});
  }
}

TEST(MultivectorAttention, DistancesKeepTheirPrecisionUnderAutocast) {
  at::manual_seed(6);
  MultivectorsAndScalars q = tokens_of(3, heads);
  q = {q.multivectors.to(at::kBFloat16), q.scalars.to(at::kBFloat16)};
  const Tensor log_weights = random({heads, channels}).to(at::kFloat);
  const Tensor right =
      multivector_queries({q.multivectors.to(at::kFloat), q.scalars.to(at::kFloat)}, log_weights, heads);
  const Tensor found = [&] {
    const Autocast bfloat16;
    return multivector_queries(q, log_weights, heads);
  }();
  EXPECT_EQ(found.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(found, right));
}

TEST(MultivectorAttention, OtherShapesAreErrors) {
  const Segments graphs = Segments::of_sizes(std::vector<int64_t>{4});
  const MultivectorsAndScalars q = tokens_of(4, heads), k = tokens_of(4, 1);
  const Tensor log_weights = random({heads, channels});
  EXPECT_THROW(multivector_attention(q, k, k, random({heads, channels + 1}), graphs, heads), ShapeError);
  EXPECT_THROW(multivector_attention(q, k, k, log_weights, graphs, 4), ShapeError);
  EXPECT_THROW(multivector_attention(q, {random({16, 4, 4}), {}}, k, log_weights, graphs, heads), ShapeError);
  EXPECT_THROW(multivector_attention(q, {k.multivectors, {}}, k, log_weights, graphs, heads), ShapeError);
  EXPECT_THROW(multivector_queries({q.multivectors, random({4, 3})}, log_weights, heads), ShapeError);
  EXPECT_THROW(of_multivector_heads(random({4, 2, 15}), 1), ShapeError);
}

}  // namespace attention_test
}  // namespace weyl
