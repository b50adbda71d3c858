#include "weyl/ops/lie/factors.h"

#include <cmath>
#include <numbers>

#include "tests/gradients.h"
#include "tests/ops/lie/samples.h"
#include "weyl/core/check.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/log.h"

namespace weyl::lie {
namespace factors_test {

Tensor matrices_of(const Tensor& numbers, LieGroup group) {
  return element_matrices(factors(numbers, group), group);
}

Tensor linear_part(const Tensor& matrices, LieGroup group) {
  const int64_t n = dimension_of(group);
  return matrices.slice(1, 0, n).slice(2, 0, n);
}

Tensor identity_of(LieGroup group) {
  return at::eye(matrix_size(group), at::kDouble).unsqueeze(0);
}

TEST(LieFactors, AreElementsWhateverTheNumbers) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const int64_t width = factor_numbers(group);
    EXPECT_EQ(largest(matrices_of(at::zeros({1, width}, at::kDouble), group) - identity_of(group)), 0);
    const Tensor linear = linear_part(matrices_of(normal_rows("numbers", 50, width, 2), group), group);
    EXPECT_GT(at::linalg_det(linear).min().item<double>(), 0);
    if (is_rigid(group)) {
      EXPECT_LE(
          largest(at::matmul(linear, linear.transpose(1, 2)) - at::eye(dimension_of(group), at::kDouble)),
          1e-14);
    }
  }
}

TEST(LieFactors, ReachWhatIsNoExponential) {
  // diag(-1, -2) = R(pi) exp(diag(0, ln 2)): the half-turn is the direction of (1, 0) + (-2, 0), the scale and the first
  // traceless symmetric coordinate are ln 2 / sqrt 2 and its negative.
  const double s = std::numbers::ln2 / std::numbers::sqrt2;
  const Tensor numbers = at::tensor({3.0, -4.0, -2.0, 0.0, s, -s, 0.0}, at::kDouble).unsqueeze(0);
  const Tensor found = factors(numbers, LieGroup::aff2);
  const Tensor wanted =
      at::tensor({-1.0, 0.0, 3.0, 0.0, -2.0, -4.0, 0.0, 0.0, 1.0}, at::kDouble).view({1, 3, 3});
  EXPECT_LE(largest(element_matrices(found, LieGroup::aff2) - wanted), 1e-14);
  const Tensor one = compact_elements(identity_of(LieGroup::aff2), LieGroup::aff2);
  EXPECT_LE(logs(one, found, LieGroup::aff2).margin.item<double>(), 0);
}

TEST(LieFactors, ReachEveryElementOfPositiveDeterminant) {
  // By the polar form, A = (A (A^T A)^(-1/2)) (A^T A)^(1/2), whose logarithm has the coordinates of the algebra.
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    SCOPED_TRACE(name_of(group));
    const int64_t n = dimension_of(group);
    const Tensor drawn = normal_rows("matrices", 40, n * n, 1).view({40, n, n});
    const Tensor a = at::where(at::linalg_det(drawn).view({-1, 1, 1}) > 0, drawn,
                               at::cat({-drawn.narrow(1, 0, 1), drawn.narrow(1, 1, n - 1)}, 1));
    const auto [u, values, vh] = at::linalg_svd(a, /*full_matrices=*/true);
    const Tensor rotation = at::matmul(u, vh);
    Tensor log = at::zeros({40, n + 1, n + 1}, at::kDouble);
    log.slice(1, 0, n).slice(2, 0, n).copy_(at::matmul(vh.transpose(1, 2) * values.log().unsqueeze(1), vh));
    const Tensor moved = at::matmul(log, at::eye(n + 1, at::kDouble));
    // Coordinates of the symmetric matrix: the logarithm of its exponential, an element inside the chart.
    const Tensor one = compact_elements(identity_of(group).expand({40, n + 1, n + 1}), group);
    const Tensor coordinates =
        to_orthonormal(logs(one, compact_elements(at::linalg_matrix_exp(moved), group), group).w, group);
    const int64_t stretch = n * (n + 1) / 2;
    const Tensor of_rotation =
        n == 2 ? rotation.select(2, 0) : at::cat({rotation.select(2, 0), rotation.select(2, 1)}, 1);
    const Tensor start = n == 2 ? at::tensor({1.0, 0.0}, at::kDouble)
                                : at::tensor({1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, at::kDouble);
    const Tensor numbers = at::cat({at::zeros({40, n}, at::kDouble), of_rotation - start,
                                    coordinates.narrow(1, coordinates.size(1) - stretch, stretch)},
                                   1);
    EXPECT_LE(largest(linear_part(matrices_of(numbers, group), group) - a), 1e-12);
  }
}

TEST(LieFactors, DerivativesAreThoseOfDifferences) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Expression matrices = [&](const Tensors& in) { return matrices_of(in[0], group); };
    expect_gradients(matrices, {normal_rows("numbers", 3, factor_numbers(group), 0.7)});
  }
}

TEST(LieFactors, WhereNoRotationIsNamedThereIsOneWithoutDerivative) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::so3, LieGroup::aff3}) {
    SCOPED_TRACE(name_of(group));
    const int64_t n = dimension_of(group), before = matrix_size(group) > n ? n : 0;
    for (const bool parallel : {false, true}) {
      Tensor numbers = at::zeros({1, factor_numbers(group)}, at::kDouble);
      numbers[0][before] = -1;  // the first column vanishes ...
      if (parallel && n == 3) {
        numbers[0][before] = 0;  // ... or the second is along it
        numbers[0][before + 3] = 2;
        numbers[0][before + 4] = -1;
      }
      numbers.requires_grad_();
      const Tensor linear = linear_part(matrices_of(numbers, group), group);
      EXPECT_LE(largest(at::matmul(linear, linear.transpose(1, 2)) - at::eye(n, at::kDouble)), 1e-14);
      EXPECT_NEAR(at::linalg_det(linear).item<double>(), 1, 1e-14);
      const Tensor by = torch::autograd::grad({linear.square().sum() + linear.sum()}, {numbers})[0];
      EXPECT_TRUE(at::isfinite(by).all().item<bool>());
    }
  }
}

TEST(LieFactors, GoThroughAHalfTurnWithoutAJump) {
  // A rotation about z whose angle goes from below pi to above: its matrix moves by as much as the numbers do, while the
  // logarithm jumps to the other side.
  const auto at_angle = [](double angle) {
    return at::tensor({std::cos(angle) - 1, std::sin(angle), 0.0, -std::sin(angle), std::cos(angle) - 1, 0.0},
                      at::kDouble)
        .unsqueeze(0);
  };
  const double step = 1e-6;
  const Tensor before = factors(at_angle(std::numbers::pi - step), LieGroup::so3);
  const Tensor after = factors(at_angle(std::numbers::pi + step), LieGroup::so3);
  EXPECT_LE(largest(element_matrices(before, LieGroup::so3) - element_matrices(after, LieGroup::so3)),
            4 * step);
  const Tensor one = compact_elements(identity_of(LieGroup::so3), LieGroup::so3);
  EXPECT_GT(largest(logs(one, before, LieGroup::so3).w - logs(one, after, LieGroup::so3).w), 6);
}

TEST(LieFactors, NumbersOfAnotherWidthAreRefused) {
  EXPECT_THROW(factors(at::zeros({2, 6}, at::kDouble), LieGroup::aff2), ShapeError);
}

}  // namespace factors_test
}  // namespace weyl::lie
