// The norm of vectors by their ellipsoid: kernels against the definition, limits, covariance, derivatives of
// flat, straight and vanishing vectors.
#include "weyl/ops/vectors/vector_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace vector_norm_test {

constexpr double epsilon = 0.01;

Tensor definition(const Tensor& x, const Tensor& weight, double rho) {
  const UseReferences plain;
  return vector_norm(x, weight, rho, epsilon);
}

Tensor weights(int64_t channels) {
  return at::rand({channels}, at::kDouble) + 0.5;
}

/// Vectors (2, 3, channels) in general, in a plane, along a line, all the same.
std::vector<Tensor> shapes(int64_t channels) {
  const Tensor x = at::randn({2, 3, channels}, at::kDouble);
  Tensor flat = x.clone(), line = x.clone();
  flat.select(1, 2).zero_();
  line.narrow(1, 1, 2).zero_();
  return {x, flat, line, at::ones({2, 3, channels}, at::kDouble)};
}

TEST(VectorNorm, IsItsDefinition) {
  at::manual_seed(1);
  for (const int64_t channels : {1, 2, 7, 8, 16, 37}) {
    const Tensor w = weights(channels);
    for (const Tensor& given : shapes(channels)) {
      for (const double rho : {0.0, 0.05, 1.0}) {
        for (const Tensor& x : {given * 1e-3, given, given + 50, given * (rho > 0 ? 1e4 : 1)}) {
          const Tensor y = vector_norm(x, w, rho, epsilon), want = definition(x, w, rho);
          EXPECT_LT((y - want).abs().max().item<double>(), 1e-9) << channels << ' ' << rho;
        }
        const Tensor single = vector_norm(given.to(at::kFloat), w.to(at::kFloat), rho, epsilon);
        EXPECT_LT((single - definition(given, w, rho)).abs().max().item<double>(), 2e-5);
      }
    }
  }
}

// Where the definition's polynomial has lost every digit, rotations have not.
TEST(VectorNorm, WhitensLongFlatVectors) {
  at::manual_seed(5);
  for (const Tensor& x : shapes(16)) {
    const Tensor y = vector_norm(x * 1e4, at::ones({16}, at::kDouble), 0, epsilon);
    EXPECT_LT(y.abs().max().item<double>(), std::sqrt(16.0));
    EXPECT_TRUE(at::isfinite(y).all().item<bool>());
  }
}

TEST(VectorNorm, MakesABallOfAnEllipsoid) {
  at::manual_seed(2);
  const Tensor x = at::randn({5, 3, 40}, at::kDouble) * at::tensor({3.0, 1.0, 0.3}, at::kDouble).view({3, 1});
  const Tensor ones = at::ones({40}, at::kDouble);
  const Tensor y = vector_norm(x, ones, 0, 1e-12);
  const Tensor unit = at::eye(3, at::kDouble);
  EXPECT_LT((at::matmul(y, y.transpose(1, 2)) / 40 - unit).abs().max().item<double>(), 1e-9);
  const Tensor length = vector_norm(x, ones, 1, 1e-12).pow(2).mean({1, 2});
  EXPECT_LT((length - 1).abs().max().item<double>(), 1e-9);
}

TEST(VectorNorm, TurnsWithItsVectors) {
  at::manual_seed(3);
  const Tensor x = at::randn({20, 3, 12}, at::kDouble), w = weights(12);
  const Tensor q = std::get<0>(at::linalg_qr(at::randn({3, 3}, at::kDouble)));
  for (const double rho : {0.0, 0.05, 1.0}) {
    const Tensor turned = vector_norm(at::matmul(q, x), w, rho, epsilon);
    const Tensor y = vector_norm(x, w, rho, epsilon);
    EXPECT_LT((turned - at::matmul(q, y)).abs().max().item<double>(), 1e-12) << rho;
    EXPECT_GT((turned - y).abs().max().item<double>(), 0.1);
    EXPECT_LT((vector_norm(x + 3, w, rho, epsilon) - y).abs().max().item<double>(), 1e-12);
  }
}

TEST(VectorNorm, DerivativesAreRight) {
  at::manual_seed(4);
  const auto of = [](double rho) {
    return [rho](const std::vector<Tensor>& in) { return vector_norm(in[0], in[1], rho, epsilon); };
  };
  for (const Tensor& x : shapes(5)) {
    const Tensor w = weights(5);
    for (const double rho : {0.0, 0.05, 1.0}) {
      expect_gradients(of(rho), {x, w});
      expect_second_gradients(of(rho), {x, w}, {.step = 1e-5, .relative = 1e-5});
    }
    expect_second_gradients([&](const auto& in) { return vector_norm(in[0], w, 1, epsilon); }, {x},
                            {.step = 1e-5, .relative = 1e-5});
    expect_second_gradients([&](const auto& in) { return vector_norm(x, in[0], 1, epsilon); }, {w});
  }
}

TEST(VectorNorm, OtherShapesAreErrors) {
  const Tensor x = at::zeros({2, 3, 4}), w = at::ones({4});
  EXPECT_THROW(vector_norm(x, at::ones({3}), 1, epsilon), ShapeError);
  EXPECT_THROW(vector_norm(x.narrow(1, 0, 2), w, 1, epsilon), ShapeError);
  EXPECT_THROW(vector_norm(x, w, 1.5, epsilon), ShapeError);
  EXPECT_THROW(vector_norm(x, w, 1, 0), ShapeError);
  EXPECT_EQ(vector_norm(at::zeros({0, 3, 4}), w, 0.5, epsilon).sizes(), at::IntArrayRef({0, 3, 4}));
}

}  // namespace vector_norm_test
}  // namespace weyl
