// The smooth inverse square root of 3 x 3 matrices: values against the eigendecomposition, derivatives
// against finite differences where eigenvalues coincide, covariance.
#include "weyl/ops/vectors/vector_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "tests/gradients.h"
#include "weyl/core/check.h"

namespace weyl {
namespace inverse_square_root_test {

Tensor by_eigenvectors(const Tensor& c) {
  const auto [values, vectors] = at::linalg_eigh(c);
  return at::matmul(vectors * values.rsqrt().unsqueeze(-2), vectors.transpose(-1, -2));
}

/// Matrices A A^T + epsilon of factors (B, 3, k): of rank k at most, but for epsilon.
Tensor squares(const Tensor& factors, double epsilon) {
  return at::matmul(factors, factors.transpose(-1, -2)) +
         epsilon * at::eye(3, factors.options().requires_grad(false));
}

TEST(InverseSquareRoot, IsTheOneOfTheEigendecomposition) {
  at::manual_seed(1);
  for (const int64_t rank : {1, 2, 3, 8}) {
    const Tensor c = squares(at::randn({200, 3, rank}, at::kDouble), 0.05);
    const Tensor expected = by_eigenvectors(c);
    EXPECT_LT(((inverse_square_root(c) - expected).abs().max() / expected.abs().max()).item<double>(), 1e-13)
        << rank;
  }
}

TEST(InverseSquareRoot, IsDefinedToItsSquare) {
  at::manual_seed(2);
  const Tensor c = squares(at::randn({50, 3, 3}, at::kDouble), 1e-3);
  const Tensor x = inverse_square_root(c);
  EXPECT_LT((at::matmul(at::matmul(x, c), x) - at::eye(3, at::kDouble)).abs().max().item<double>(), 1e-10);
}

TEST(InverseSquareRoot, TurnsWithItsMatrix) {
  at::manual_seed(3);
  const Tensor c = squares(at::randn({50, 3, 2}, at::kDouble), 0.01);
  const Tensor q = std::get<0>(at::linalg_qr(at::randn({50, 3, 3}, at::kDouble)));
  const Tensor turned = at::matmul(at::matmul(q, c), q.transpose(-1, -2));
  const Tensor expected = at::matmul(at::matmul(q, inverse_square_root(c)), q.transpose(-1, -2));
  EXPECT_LT((inverse_square_root(turned) - expected).abs().max().item<double>(), 1e-11);
  EXPECT_GT((inverse_square_root(turned) - inverse_square_root(c)).abs().max().item<double>(), 1e-2);
}

// By eigenvectors the second derivative is finite there and wrong by 1 to 25 %.
TEST(InverseSquareRoot, HasRightDerivativesWhereEigenvaluesCoincide) {
  at::manual_seed(4);
  const Expression f = [](const std::vector<Tensor>& in) { return inverse_square_root(squares(in[0], 0.1)); };
  for (const int64_t rank : {3, 2, 1}) {
    expect_second_gradients(f, {at::randn({2, 3, rank}, at::kDouble)}, {.step = 1e-5, .relative = 1e-6});
  }
  expect_second_gradients(f, {at::zeros({1, 3, 2}, at::kDouble)}, {.step = 1e-5, .relative = 1e-6});
  const Expression of_matrix = [](const std::vector<Tensor>& in) {
    return inverse_square_root(in[0] + in[0].transpose(-1, -2));
  };
  expect_second_gradients(of_matrix, {at::eye(3, at::kDouble).unsqueeze(0)},
                          {.step = 1e-5, .relative = 1e-6});
}

TEST(InverseSquareRoot, OtherShapesAreErrors) {
  EXPECT_THROW(inverse_square_root(at::zeros({2, 2}, at::kDouble)), ShapeError);
  EXPECT_THROW(inverse_square_root(Tensor()), ShapeError);
  EXPECT_EQ(inverse_square_root(at::zeros({0, 3, 3})).sizes(), at::IntArrayRef({0, 3, 3}));
}

}  // namespace inverse_square_root_test
}  // namespace weyl
