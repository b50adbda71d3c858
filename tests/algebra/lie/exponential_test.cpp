// The laws of exp and log of the six groups and of their derivatives, in both precisions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/algebra/lie/operations.h"
#include "tests/lie_groups.h"
#include "weyl/algebra/lie/formulas.h"
#include "weyl/core/check.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace exponential_test {

/// Column k of the left Jacobian by the central difference of log(exp(w + h e_k) exp(w)^-1).
std::vector<double> left_difference(const Of<double>& of, const std::vector<double>& w, size_t k) {
  constexpr double h = 1e-5;
  const auto back = of.back(of.exp_of(w));
  std::vector<double> difference(of.dof, 0);
  for (const int sign : {1, -1}) {
    auto moved = w;
    moved[k] += sign * h;
    const auto v = of.log_of(of.product(of.exp_of(moved), back));
    for (size_t i = 0; i < of.dof; ++i) {
      difference[i] += sign * v[i] / (2 * h);
    }
  }
  return difference;
}

TYPED_TEST_SUITE(LieLaws, LiePrecisions);

TYPED_TEST(LieLaws, ExpAndLogAreInverse) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    EXPECT_EQ(largest_difference(of.log_of(of.exp_of(std::vector<TypeParam>(of.dof, 0))),
                                 std::vector<TypeParam>(of.dof, 0)),
              0);
    int inside = 0;
    for (int k = 0; k < 60; ++k) {
      for (const double scale : {1e-8, 1e-3, 0.1, 0.7}) {
        const auto w = of.tangent(scale);
        double size = 0;
        for (const auto x : w) {
          size = worst_of(size, std::abs(x));
        }
        // The logarithm of an affine map is as ill-conditioned as its exponents are wide; near the identity
        // what rounding the matrix loses is absolute.
        const double tolerance = (is_rigid(group) ? 60 * size : scale > 0.1 ? 2000 : 10) * this->eps;
        EXPECT_LE(largest_difference(of.log_of(of.exp_of(w)), w), tolerance) << scale;
      }
      const auto g = of.random();
      auto w = of.log_of(g);
      if (of.chart_margin(g) > TypeParam(0.01)) {
        ++inside;
        EXPECT_LE(Of<TypeParam>::distance(of, of.exp_of(w), g), 500 * this->eps);
        // log(g^-1) = -log g.
        const auto v = of.log_of(of.back(g));
        for (auto& x : w) {
          x = -x;
        }
        EXPECT_LE(largest_difference(v, w), 2000 * this->eps);
      }
    }
    EXPECT_GT(inside, 20);
  }
}

// exp(hat w) by the series of the matrix exponential.
TYPED_TEST(LieLaws, ExpIsTheMatrixExponential) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<double> of(group);
    for (const double scale : {0.1, 1.0, 2.0}) {
      const auto w = of.tangent(scale);
      std::vector<double> X(of.m * of.m), term(X.size(), 0), sum(X.size(), 0), back(of.dof);
      of.hat(w, X);
      of.vee(X, back);
      EXPECT_LE(largest_difference(back, w), 1e-15 * (1 + scale));
      for (double& x : X) {
        x /= 1024;
      }
      for (size_t i = 0; i < of.m; ++i) {
        term[i * of.m + i] = sum[i * of.m + i] = 1;
      }
      for (int k = 1; k < 20; ++k) {
        term = times(X, term);
        for (size_t i = 0; i < sum.size(); ++i) {
          term[i] /= k;
          sum[i] += term[i];
        }
      }
      double size = 1;
      for (int k = 0; k < 10; ++k) {
        sum = times(sum, sum);
      }
      for (const double x : sum) {
        size = worst_of(size, std::abs(x));
      }
      Of<TypeParam> here(group);
      const auto g = here.matrix(here.exp_of({w.begin(), w.end()}));
      EXPECT_LE(largest_difference(std::vector<double>(g.begin(), g.end()), sum),
                size * (1e-12 + 60 * this->eps));
    }
  }
}

TYPED_TEST(LieLaws, JacobiansAreTheDerivativeOfExp) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    Of<double> fine(group);
    for (const double scale : {0.0, 1e-3, 0.3, 0.8}) {
      const auto w = of.tangent(scale);
      const auto left = of.square(&Lie<TypeParam>::left_jacobian, w);
      const auto right = of.square(&Lie<TypeParam>::right_jacobian, w);
      std::vector<TypeParam> one(of.dof * of.dof, 0), opposite = w;
      for (size_t i = 0; i < of.dof; ++i) {
        one[i * of.dof + i] = 1;
        opposite[i] = -w[i];
      }
      const double near = 300 * this->eps;
      EXPECT_LE(largest_difference(times(left, of.square(&Lie<TypeParam>::left_jacobian_inverse, w)), one),
                near);
      EXPECT_LE(largest_difference(times(right, of.square(&Lie<TypeParam>::right_jacobian_inverse, w)), one),
                near);
      EXPECT_LE(largest_difference(of.square(&Lie<TypeParam>::left_jacobian, opposite), right), near);
      EXPECT_LE(largest_difference(times(of.square(&Lie<TypeParam>::adjoint, of.exp_of(w)), right), left),
                5 * near);
      // In double for both precisions.
      double off = 0, control = 0;
      const std::vector<double> at(w.begin(), w.end());
      for (size_t k = 0; k < of.dof; ++k) {
        const auto difference = left_difference(fine, at, k);
        for (size_t i = 0; i < of.dof; ++i) {
          off = worst_of(off, std::abs(difference[i] - left[i * of.dof + k]));
          control = worst_of(control, std::abs(difference[i] - right[i * of.dof + k]));
        }
      }
      EXPECT_LE(off, 2e-9 + near);
      if (scale > 0.1 && group != LieGroup::so2) {
        EXPECT_GT(control, 0.01) << "the right Jacobian passes for the left";
      }
    }
  }
}

/// w with the coordinates of one block of the algebra 0.
template <class T>
std::vector<T> without(const LieBlock& block, std::vector<T> w) {
  std::fill(w.begin() + block.begin, w.begin() + block.begin + block.size, T(0));
  return w;
}

// Where one block is exactly 0, as the scale of a motion that keeps areas, exp is as smooth as elsewhere.
TYPED_TEST(LieLaws, JacobiansWhereABlockIsZero) {
  for (const LieGroup group : lie_groups) {
    Of<TypeParam> of(group);
    Of<double> fine(group);
    for (const LieBlock& block : blocks_of(group)) {
      SCOPED_TRACE(testing::Message() << name_of(group) << ", coordinate " << block.begin);
      const auto w = without(block, of.tangent(0.7));
      const auto left = of.square(&Lie<TypeParam>::left_jacobian, w);
      const auto inverse = of.square(&Lie<TypeParam>::left_jacobian_inverse, w);
      const std::vector<double> at(w.begin(), w.end());
      for (size_t k = 0; k < of.dof; ++k) {
        const auto difference = left_difference(fine, at, k);
        for (size_t i = 0; i < of.dof; ++i) {
          EXPECT_NEAR(left[i * of.dof + k], difference[i], 2e-9 + 300 * this->eps) << i << " " << k;
        }
      }
      const auto one = times(left, inverse);
      for (size_t i = 0; i < one.size(); ++i) {
        EXPECT_NEAR(one[i], i % (of.dof + 1) == 0, 1500 * this->eps);
      }
    }
  }
}

TEST(LieExponential, DerivativeByTheScaleAtZero) {
  // d t/d sigma of (1, 0, phi 1, sigma 0, 0, 0) is int_0^1 r e^{r J} v dr = (sin 1 + cos 1 - 1, sin 1 - cos
  // 1).
  using kernels::WEYL_ISA::lie::AFF2;
  using D = kernels::WEYL_ISA::lie::Dual<double, 1>;
  AFF2::Tangent<D> w{{D(1.0), D(0.0), D(1.0), D(0.0), D(0.0), D(0.0)}};
  w[3].d[0] = 1;
  const auto g = AFF2::exp(w);
  EXPECT_NEAR(g[4].d[0], std::sin(1.0) + std::cos(1.0) - 1, 1e-15);
  EXPECT_NEAR(g[5].d[0], std::sin(1.0) - std::cos(1.0), 1e-15);
}

TYPED_TEST(LieLaws, ExpOfWhatIsNotFiniteIsNotANumber) {
  for (const LieGroup group : lie_groups) {
    Of<TypeParam> of(group);
    for (const double bad : {INFINITY, -INFINITY, NAN}) {
      for (size_t k = 0; k < of.dof; ++k) {
        auto w = of.tangent(0.3);
        w[k] = static_cast<TypeParam>(bad);
        for (const auto x : of.exp_of(w)) {
          EXPECT_TRUE(std::isnan(x)) << name_of(group) << " " << k << " " << bad;
        }
        of.square(&Lie<TypeParam>::left_jacobian, w);  // returns
      }
    }
  }
  // Nor does the bound on its halvings cut off a coordinate that is finite.
  Of<double> of(LieGroup::aff3);
  std::vector<double> w(12, 0.0);
  w[6] = -1e300;
  EXPECT_EQ(of.exp_of(w), std::vector<double>(12, 0.0));
}

TYPED_TEST(LieLaws, IntegralsCarryVelocitiesToTranslations) {
  for (const LieGroup group : {LieGroup::se2, LieGroup::se3, LieGroup::aff2, LieGroup::aff3}) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    const size_t n = dimension_of(group);
    const auto w = of.tangent(0.6), x = of.matrix(of.exp_of(w));
    std::vector<TypeParam> V(n * n), back(n * n), one(n * n, 0);
    of.integral(w, V);
    of.integral_inverse(w, back);
    for (size_t i = 0; i < n; ++i) {
      one[i * n + i] = 1;
    }
    EXPECT_LE(largest_difference(times(V, back), one), 100 * this->eps);
    const auto t = times(V, std::vector<TypeParam>(w.begin(), w.begin() + n));
    for (size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(t[i], x[i * of.m + n], 100 * this->eps);
    }
  }
  std::vector<TypeParam> none(9);
  EXPECT_THROW(Lie<TypeParam>(LieGroup::so3).integral(std::vector<TypeParam>(3), none), ShapeError);
}

}  // namespace exponential_test
}  // namespace weyl
