// The laws of the six groups in both precisions, through the run-time interface.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "tests/laws.h"
#include "weyl/algebra/lie_formulas.h"
#include "weyl/algebra/lie_group.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr LieGroup groups[] = {LieGroup::so2, LieGroup::se2,  LieGroup::so3,
                               LieGroup::se3, LieGroup::aff2, LieGroup::aff3};

/// One group in one precision, with results returned.
template <class T>
struct Of : Lie<T> {
  using Numbers = std::vector<T>;
  using Lie<T>::Lie;
  using Lie<T>::group;
  size_t size = compact_size(group), dof = degrees_of_freedom(group), m = matrix_size(group);
  Stream stream{3, "lie laws"};

  Numbers random() {
    Numbers g(size);
    Lie<T>::random(stream, g);
    return g;
  }
  /// A tangent with coordinates N(0, scale^2).
  Numbers tangent(double scale) {
    Numbers w(dof);
    std::ranges::generate(w, [&] { return static_cast<T>(scale * stream.normal()); });
    return w;
  }
  Numbers product(const Numbers& a, const Numbers& b) const {
    Numbers g(size);
    this->compose(a, b, g);
    return g;
  }
  Numbers back(const Numbers& a) const {
    Numbers g(size);
    this->inverse(a, g);
    return g;
  }
  Numbers exp_of(const Numbers& w) const {
    Numbers g(size);
    this->exp(w, g);
    return g;
  }
  Numbers log_of(const Numbers& g) const {
    Numbers w(dof);
    this->log(g, w);
    return w;
  }
  Numbers matrix(const Numbers& g) const {
    Numbers x(m * m);
    this->to_matrix(g, x);
    return x;
  }
  Numbers square(void (Lie<T>::*f)(std::span<const T>, std::span<T>) const, const Numbers& of) const {
    Numbers y(dof * dof);
    (this->*f)(of, y);
    return y;
  }
  /// By matrices, so that q and -q are one; relative to their size.
  static double distance(const Of& of, const Numbers& a, const Numbers& b) {
    const Numbers x = of.matrix(a), y = of.matrix(b);
    double worst = 0, size = 1;
    for (size_t i = 0; i < x.size(); ++i) {
      worst = std::max<double>(worst, std::abs(x[i] - y[i]));
      size = std::max<double>(size, std::abs(x[i]));
    }
    return worst / size;
  }
};

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    worst = std::max<double>(worst, std::abs(a[i] - b[i]));
  }
  return worst;
}
/// (n, n) times (n, n) or (n, 1).
template <class T>
std::vector<T> times(const std::vector<T>& a, const std::vector<T>& b) {
  const size_t n = static_cast<size_t>(std::lround(std::sqrt(a.size()))), columns = b.size() / n;
  std::vector<T> y(b.size(), 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < columns; ++j) {
        y[i * columns + j] += a[i * n + k] * b[k * columns + j];
      }
    }
  }
  return y;
}

template <class T>
class LieLaws : public testing::Test {
 public:
  static constexpr double eps = std::numeric_limits<T>::epsilon();
};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(LieLaws, Precisions);

TYPED_TEST(LieLaws, ComposeAndInverseMakeAGroup) {
  for (const LieGroup group : groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    using Numbers = typename Of<TypeParam>::Numbers;
    laws::Operations<Numbers> operations;
    operations.compose = [&](const Numbers& a, const Numbers& b) { return of.product(a, b); };
    operations.inverse = [&](const Numbers& a) { return of.back(a); };
    operations.identity.resize(of.size);
    of.identity(operations.identity);
    operations.distance = [&](const Numbers& a, const Numbers& b) {
      return Of<TypeParam>::distance(of, a, b);
    };
    std::vector<Numbers> samples;
    for (int k = 0; k < 6; ++k) {
      samples.push_back(of.random());
    }
    laws::expect_group_laws(operations, samples, 200 * this->eps);
    // Between is a^-1 b, and moving points is an action.
    for (const Numbers& a : samples) {
      for (const Numbers& b : samples) {
        Numbers relative(of.size), p(dimension_of(group), TypeParam(0.7)), first = p, both = p, twice = p;
        of.between(a, b, relative);
        EXPECT_LE(operations.distance(relative, of.product(of.back(a), b)), 200 * this->eps);
        of.act(b, p, first);
        of.act(a, first, twice);
        of.act(of.product(a, b), p, both);
        EXPECT_LE(largest_difference(both, twice), 200 * this->eps);
      }
    }
  }
}

TYPED_TEST(LieLaws, MatricesAreARepresentation) {
  for (const LieGroup group : groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    for (int k = 0; k < 10; ++k) {
      const auto a = of.random(), b = of.random(), x = of.matrix(a);
      EXPECT_LE(largest_difference(of.matrix(of.product(a, b)), times(x, of.matrix(b))), 100 * this->eps);
      std::vector<TypeParam> again(of.size);
      of.from_matrix(x, again);
      EXPECT_LE(Of<TypeParam>::distance(of, a, again), 10 * this->eps);
      EXPECT_LE(of.Lie<TypeParam>::distance(x), 10 * this->eps);
    }
  }
}

TYPED_TEST(LieLaws, ExpAndLogAreInverse) {
  for (const LieGroup group : groups) {
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
          size = std::max<double>(size, std::abs(x));
        }
        // The logarithm of an affine map is as ill-conditioned as its exponents are wide.
        const double tolerance = (is_rigid(group) ? 60 * size : 2000) * this->eps;
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
  for (const LieGroup group : groups) {
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
        size = std::max(size, std::abs(x));
      }
      Of<TypeParam> here(group);
      const auto g = here.matrix(here.exp_of({w.begin(), w.end()}));
      EXPECT_LE(largest_difference(std::vector<double>(g.begin(), g.end()), sum),
                size * (1e-12 + 60 * this->eps));
    }
  }
}

TYPED_TEST(LieLaws, AdjointIsAHomomorphismAndMovesTheExponential) {
  for (const LieGroup group : groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    double control = 0;
    for (int k = 0; k < 10; ++k) {
      const auto a = of.random(), b = of.random(), w = of.tangent(0.3);
      const auto Ad = of.square(&Lie<TypeParam>::adjoint, a), other = of.square(&Lie<TypeParam>::adjoint, b);
      const auto both = of.square(&Lie<TypeParam>::adjoint, of.product(a, b));
      double size = 1;
      for (const auto x : both) {
        size = std::max<double>(size, std::abs(x));
      }
      EXPECT_LE(largest_difference(both, times(Ad, other)), size * 200 * this->eps);
      control = std::max(control, largest_difference(both, times(other, Ad)));
      const auto moved = of.product(of.product(a, of.exp_of(w)), of.back(a));
      EXPECT_LE(Of<TypeParam>::distance(of, moved, of.exp_of(times(Ad, w))), size * 200 * this->eps);
    }
    if (group != LieGroup::so2) {
      EXPECT_GT(control, 0.1) << "the reversed order is a homomorphism too";
    }
  }
}

TYPED_TEST(LieLaws, JacobiansAreTheDerivativeOfExp) {
  for (const LieGroup group : groups) {
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
      // Central differences of log(exp(w + h e_k) exp(w)^-1), in double.
      double off = 0, control = 0;
      const std::vector<double> at(w.begin(), w.end());
      const auto back = fine.back(fine.exp_of(at));
      for (size_t k = 0; k < of.dof; ++k) {
        std::vector<double> difference(of.dof, 0);
        const double h = 1e-5;
        for (const int sign : {1, -1}) {
          auto moved = at;
          moved[k] += sign * h;
          const auto v = fine.log_of(fine.product(fine.exp_of(moved), back));
          for (size_t i = 0; i < of.dof; ++i) {
            difference[i] += sign * v[i] / (2 * h);
          }
        }
        for (size_t i = 0; i < of.dof; ++i) {
          off = std::max(off, std::abs(difference[i] - left[i * of.dof + k]));
          control = std::max(control, std::abs(difference[i] - right[i * of.dof + k]));
        }
      }
      EXPECT_LE(off, 2e-9 + near);
      if (scale > 0.1 && group != LieGroup::so2) {
        EXPECT_GT(control, 0.01) << "the right Jacobian passes for the left";
      }
    }
  }
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

TYPED_TEST(LieLaws, OrthonormalCoordinatesHaveTheFrobeniusNorm) {
  for (const LieGroup group : groups) {
    SCOPED_TRACE(name_of(group));
    Of<TypeParam> of(group);
    auto w = of.tangent(1);
    const auto physical = w;
    std::vector<TypeParam> X(of.m * of.m);
    of.hat(w, X);
    of.to_orthonormal(w);
    const double matrix = std::inner_product(X.begin(), X.end(), X.begin(), 0.0);
    EXPECT_NEAR(std::inner_product(w.begin(), w.end(), w.begin(), 0.0), matrix, 20 * this->eps * matrix);
    of.from_orthonormal(w);
    EXPECT_LE(largest_difference(w, physical), 4 * this->eps);
    // The blocks tile the coordinates.
    int at = 0;
    for (const LieBlock& block : blocks_of(group)) {
      EXPECT_EQ(block.begin, at);
      at += block.size;
    }
    EXPECT_EQ(at, degrees_of_freedom(group));
  }
}

TYPED_TEST(LieLaws, NewtonsStepRestoresTheNorm) {
  for (const LieGroup group : {LieGroup::so2, LieGroup::se2, LieGroup::so3, LieGroup::se3}) {
    Of<TypeParam> of(group);
    auto g = of.random();
    for (auto& x : g) {
      x *= TypeParam(1.001);
    }
    of.normalise(g);
    double square = 0;
    for (size_t i = g.size() - (dimension_of(group) == 2 ? 2 : 4); i < g.size(); ++i) {
      square += static_cast<double>(g[i]) * g[i];
    }
    EXPECT_NEAR(square, 1, 4e-6);  // 3 (1e-3)^2 and rounding: quadratic
    EXPECT_GT(std::abs(1.001 * 1.001 - 1), 1e-3);
  }
}

TEST(LieInput, OffTheGroupSaysByHowMuch) {
  const Lie<double> se2(LieGroup::se2), so3(LieGroup::so3), aff2(LieGroup::aff2);
  std::vector<double> g(4), q(4), a(6);
  const auto message = [](auto run) {
    try {
      run();
    } catch (const ShapeError& e) {
      return std::string(e.what());
    }
    return std::string("nothing thrown");
  };
  EXPECT_EQ(message([&] { se2.from_matrix(std::vector<double>{1, 0.5, 2, 0, 1, 3, 0, 0, 1}, g); }),
            "Lie::from_matrix: matrix must be in se2, but it is not orthogonal, off by 0.5 (at most 0.0001)");
  EXPECT_EQ(
      message([&] { se2.from_matrix(std::vector<double>{1, 0, 2, 0, 1, 3, 0, 0.25, 1}, g); }),
      "Lie::from_matrix: matrix must be in se2, but it has a last row that is not 0 .. 0 1, off by 0.25 (at "
      "most 0.0001)");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, -1}, q); }),
            "Lie::from_matrix: matrix must be in so3, but it is a reflection");
  EXPECT_EQ(message([&] { aff2.from_matrix(std::vector<double>{1, 2, 0, 2, 4, 0, 0, 0, 1}, a); }),
            "Lie::from_matrix: matrix must be in aff2, but it is singular");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>{NAN, 0, 0, 0, 1, 0, 0, 0, 1}, q); }),
            "Lie::from_matrix: matrix must be in so3, but it has numbers that are not finite");
  EXPECT_EQ(message([&] { so3.from_matrix(std::vector<double>(4), q); }),
            "Lie::from_matrix: matrix must have 9 numbers, got 4");
  aff2.from_matrix(std::vector<double>{1, 0, 5, 0, -1, 6, 0, 0, 1}, a);  // a reflection is an affine map
  EXPECT_EQ(a, (std::vector<double>{1, 0, 0, -1, 5, 6}));
}

TEST(LieInput, NearestRotationMinimisesTheDistance) {
  Of<double> of(LieGroup::so3);
  for (int k = 0; k < 40; ++k) {
    std::vector<double> m(9), q(4);
    std::ranges::generate(m, [&] { return of.stream.normal(); });
    of.nearest(m, q);
    const auto best = of.matrix(q);
    const double found = std::inner_product(m.begin(), m.end(), best.begin(), 0.0);
    for (int other = 0; other < 50; ++other) {
      auto w = of.tangent(other % 2 ? 1e-3 : 1.0);
      const auto r = of.matrix(of.product(q, of.exp_of(w)));
      EXPECT_LE(std::inner_product(m.begin(), m.end(), r.begin(), 0.0), found + 1e-12);
    }
  }
  // To rounding, the nearest rotation of a rotation is itself.
  const auto g = of.random(), x = of.matrix(g);
  std::vector<double> q(4);
  of.nearest(x, q);
  EXPECT_LE(Of<double>::distance(of, g, q), 1e-15);
}

// The angle of uniform rotations has density (1 - cos theta)/pi; its mean is pi/2 + 2/pi.
TEST(LieInput, RandomRotationsAreUniform) {
  Of<double> of(LieGroup::so3);
  double sum = 0;
  const int count = 4000;
  for (int k = 0; k < count; ++k) {
    sum += std::numbers::pi - of.chart_margin(of.random());
  }
  const double mean = std::numbers::pi / 2 + 2 / std::numbers::pi, deviation = 0.65;
  EXPECT_NEAR(sum / count, mean, 4 * deviation / std::sqrt(count));
  Of<double> flat(LieGroup::so2);
  double c = 0, s = 0;
  for (int k = 0; k < count; ++k) {
    const auto g = flat.random();
    c += g[0];
    s += g[1];
  }
  EXPECT_LE(std::hypot(c, s) / count, 4 / std::sqrt(count));
}

}  // namespace
}  // namespace weyl
