// Normal densities of a column of numbers: kernels against the definition, far tails, derivatives.
#include "weyl/ops/edges/gaussian_densities.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace gaussian_densities_test {

Tensor definition(const Tensor& u, const Tensor& means, const Tensor& widths) {
  const UseReferences plain;
  return gaussian_densities(u, means, widths);
}

Tensor of(const std::vector<Tensor>& in) {
  return gaussian_densities(in[0], in[1], in[2]);
}

Tensor random(int64_t n, double least) {
  return at::rand({n}, at::kDouble) * 2 + least;
}

TEST(GaussianDensities, AreTheirDefinition) {
  at::manual_seed(1);
  for (const int64_t rows : {1, 5, 3000}) {
    for (const int64_t count : {1, 7, 8, 16, 37}) {
      const Tensor u = random(rows, -1), m = random(count, -1), s = random(count, 0.1);
      const Tensor want = definition(u, m, s);
      EXPECT_LT((gaussian_densities(u, m, s) - want).abs().max().item<double>(), 1e-13);
      const Tensor single = gaussian_densities(u.to(at::kFloat), m.to(at::kFloat), s.to(at::kFloat));
      EXPECT_LT((single - want).abs().max().item<double>(), 2e-5 * want.max().item<double>());
    }
  }
  const double value = gaussian_densities(at::full({1}, 1.0, at::kDouble), at::full({1}, 0.5, at::kDouble),
                                          at::full({1}, 0.25, at::kDouble))
                           .item<double>();
  EXPECT_NEAR(value, std::exp(-2) / (0.25 * std::sqrt(2 * M_PI)), 1e-15);
}

TEST(GaussianDensities, EndFarAway) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const Tensor m = at::zeros({3}, dtype), s = at::tensor({1.0, 0.1, 1e-3}).to(dtype);
    const Tensor u = at::tensor({0.0, 11.4, 1e30, -1e30, std::numeric_limits<double>::quiet_NaN()}).to(dtype);
    const Tensor y = gaussian_densities(u, m, s);
    EXPECT_EQ(y.slice(0, 1, 4).abs().max().item<double>(), 0);
    EXPECT_TRUE(at::isnan(y[4]).all().item<bool>());
    EXPECT_GT(y[0].min().item<double>(), 0.3);
    const Tensor x = u.slice(0, 0, 4).clone().requires_grad_();
    const Tensor g = torch::autograd::grad({gaussian_densities(x, m, s).sum()}, {x}, {}, true, true)[0];
    const Tensor gg = torch::autograd::grad({g.sum()}, {x})[0];
    for (const Tensor& d : {g, gg}) {
      EXPECT_TRUE(at::isfinite(d).all().item<bool>());
      EXPECT_EQ(d.slice(0, 1, 4).abs().max().item<double>(), 0);
    }
    EXPECT_LT(gg[0].item<double>(), -1e5);
  }
}

TEST(GaussianDensities, DerivativesAreRight) {
  at::manual_seed(2);
  const Tensor u = random(6, -1), m = random(19, -1), s = random(19, 0.3);
  expect_gradients(of, {u, m, s});
  expect_second_gradients(of, {u, m, s}, {.step = 1e-5, .relative = 1e-5});
  expect_second_gradients([&](const auto& in) { return of({in[0], m, s}); }, {u},
                          {.step = 1e-5, .relative = 1e-5});
  expect_second_gradients([&](const auto& in) { return of({u, in[0], s}); }, {m},
                          {.step = 1e-5, .relative = 1e-5});
  expect_second_gradients([&](const auto& in) { return of({u, m, in[0]}); }, {s},
                          {.step = 1e-5, .relative = 1e-5});
}

TEST(GaussianDensities, OtherShapesAreErrors) {
  const Tensor u = at::zeros({4}), m = at::zeros({3}), s = at::ones({3});
  EXPECT_THROW(gaussian_densities(u.view({4, 1}), m, s), ShapeError);
  EXPECT_THROW(gaussian_densities(u, m, at::ones({2})), ShapeError);
  EXPECT_THROW(gaussian_densities(u, m.to(at::kDouble), s), ShapeError);
  EXPECT_THROW(gaussian_densities(u.to(at::kLong), m, s), ShapeError);
  EXPECT_EQ(gaussian_densities(at::zeros({0}), m, s).sizes(), at::IntArrayRef({0, 3}));
}

}  // namespace gaussian_densities_test
}  // namespace weyl
