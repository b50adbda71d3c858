// What stands for the logarithm beyond its chart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "tests/lie_groups.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace charts_test {

using Numbers = std::vector<double>;

struct Of : Lie<double> {
  using Lie::Lie;
  Stream stream{5, "charts"};

  Numbers tangent(double scale) {
    Numbers w(degrees_of_freedom(group));
    std::ranges::generate(w, [&] { return scale * stream.normal(); });
    return w;
  }
  Numbers element(const Numbers& w) const {
    Numbers g(compact_size(group));
    exp(w, g);
    return g;
  }
};

double largest_difference(const Numbers& a, const Numbers& b, double sign = -1) {
  double worst = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    worst = worst_of(worst, std::abs(a[i] + sign * b[i]));
  }
  return worst;
}

TEST(LieCharts, FrobeniusIsOddAndEqualToSecondOrder) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of of(group);
    Numbers w(degrees_of_freedom(group)), v = w, back(compact_size(group)), g = back;
    of.random(of.stream, g);
    of.frobenius_log(g, w);
    of.inverse(g, back);
    of.frobenius_log(back, v);
    EXPECT_LE(largest_difference(w, v, 1), 1e-13);
    // The difference from the logarithm shrinks with the third power.
    const Numbers direction = of.tangent(1);
    double off[2];
    for (int k = 0; k < 2; ++k) {
      Numbers small = direction;
      for (double& x : small) {
        x *= k ? 1e-3 : 1e-2;
      }
      of.frobenius_log(of.element(small), w);
      off[k] = largest_difference(w, small);
    }
    EXPECT_LE(off[1], 1.1e-3 * off[0]);
    EXPECT_GT(off[0], 1e-8);
  }
}

TEST(LieCharts, FrobeniusSquaresAreThoseOfTheLogarithmToThirdOrder) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    Of of(group);
    const auto blocks = blocks_of(group);
    const Numbers direction = of.tangent(1);
    double off[2];
    for (int k = 0; k < 2; ++k) {
      Numbers w = direction, squares(blocks.size()), wanted(blocks.size(), 0);
      for (double& x : w) {
        x *= k ? 1e-3 : 1e-2;
      }
      of.frobenius_squares(of.element(w), squares);
      of.to_orthonormal(w);
      for (size_t b = 0; b < blocks.size(); ++b) {
        for (int i = blocks[b].begin; i < blocks[b].begin + blocks[b].size; ++i) {
          wanted[b] += w[i] * w[i];
        }
      }
      off[k] = largest_difference(squares, wanted);
    }
    EXPECT_LE(off[1], 1.2e-4 * off[0]);
  }
  // A half-turn is as far as a rotation can be, though (g - g^-1)/2 vanishes there.
  const Lie<double> so3(LieGroup::so3);
  Numbers w(3), squares(1);
  so3.frobenius_log(Numbers{0, 0, 1, 0}, w);
  so3.frobenius_squares(Numbers{0, 0, 1, 0}, squares);
  EXPECT_LE(largest_difference(w, Numbers(3, 0.0)), 1e-15);
  EXPECT_NEAR(squares[0], 8, 1e-14);
}

TEST(LieCharts, PolarPartsMakeTheElement) {
  for (const LieGroup group : {LieGroup::aff2, LieGroup::aff3}) {
    SCOPED_TRACE(name_of(group));
    Of of(group);
    const size_t n = dimension_of(group), rotations = n == 2 ? 1 : 3;
    int beyond = 0;
    for (int k = 0; k < 200; ++k) {
      Numbers g(compact_size(group)), w(g.size()), turn(g.size(), 0), stretch(g.size(), 0), product(g.size());
      of.random(of.stream, g);
      const double margin = of.polar_log(g, w);
      ASSERT_GT(margin, 0);
      beyond += of.chart_margin(g) <= 0;
      for (size_t i = 0; i < w.size(); ++i) {
        (i < n + rotations ? turn : stretch)[i] = i < n ? 0 : w[i];
      }
      of.compose(of.element(turn), of.element(stretch), product);
      for (size_t i = 0; i < n; ++i) {
        product[n * n + i] = w[i];
      }
      EXPECT_LE(largest_difference(product, g), 1e-12);
    }
    EXPECT_GT(beyond, 5) << "the samples do not leave the chart of the logarithm";
    Numbers mirrored(compact_size(group), 0.0), w(mirrored.size(), 7.0);
    for (size_t i = 0; i < n; ++i) {
      mirrored[i * n + i] = i ? 1 : -1;
    }
    EXPECT_EQ(of.polar_log(mirrored, w), -1);
    EXPECT_EQ(w, Numbers(w.size(), 0.0));
  }
}

std::vector<double> rotation(Of& of) {
  Numbers q(4), x(9);
  Of so3(LieGroup::so3);
  so3.random(of.stream, q);
  so3.to_matrix(q, x);
  return x;
}
Numbers product(const Numbers& a, const Numbers& b) {
  Numbers y(9, 0.0);
  for (int i = 0; i < 9; ++i) {
    for (int k = 0; k < 3; ++k) {
      y[i] += a[3 * (i / 3) + k] * b[3 * k + i % 3];
    }
  }
  return y;
}

// A = U e^Y V: Q = U V and log P = V^T Y V, to what rounding A alone does to them.
TEST(LieCharts, PolarPartsOfWideStretches) {
  Of of(LieGroup::aff3);
  for (const double width : {1.0, 3.0, 6.0, 8.0, 10.0}) {
    for (int k = 0; k < 400; ++k) {
      const Numbers U = rotation(of), V = rotation(of);
      Numbers y(3), stretched(9, 0.0), wanted(9, 0.0);
      for (double& x : y) {
        x = k % 2 ? width * (2 * of.stream.uniform() - 1) : std::copysign(width, of.stream.normal());
      }
      for (int i = 0; i < 9; ++i) {
        stretched[i] = std::exp(y[i / 3]) * V[i];
        for (int j = 0; j < 3; ++j) {
          wanted[i] += y[j] * V[3 * j + i / 3] * V[3 * j + i % 3];
        }
      }
      Numbers g = product(U, stretched), w(12), turn(12, 0.0), back(12);
      g.insert(g.end(), {1, 2, 3});
      ASSERT_GT(of.polar_log(g, w), 0);
      Numbers X(16);
      std::copy(w.begin() + 3, w.begin() + 6, turn.begin() + 3);
      std::fill(w.begin(), w.begin() + 6, 0.0);
      of.hat(w, X);
      of.exp(turn, back);
      const Numbers Q = product(U, V);
      std::ranges::sort(y);
      const double eps = 2.3e-16, wide = std::exp(y[2] - y[0]), lean = 2 * std::exp(y[2] - y[1]);
      for (int i = 0; i < 9; ++i) {
        EXPECT_NEAR(X[4 * (i / 3) + i % 3], wanted[i], 4000 * eps * wide) << width;
        EXPECT_NEAR(back[i], Q[i], 20 * eps * (1 + lean)) << width;
      }
    }
  }
}

TEST(LieCharts, PolarOfARigidMotionIsItsTranslationAndRotation) {
  Of of(LieGroup::se3);
  const Numbers w = of.tangent(0.5), g = of.element(w);
  Numbers found(6);
  EXPECT_NEAR(of.polar_log(g, found), std::numbers::pi - std::hypot(w[3], w[4], w[5]), 1e-14);
  EXPECT_LE(largest_difference(found, {g[0], g[1], g[2], w[3], w[4], w[5]}), 1e-14);
}

TEST(LieCharts, OfNotANumberComesNotANumber) {
  for (const LieGroup group : lie_groups) {
    const Lie<double> lie(group);
    Numbers g(compact_size(group), NAN), w(degrees_of_freedom(group), 0.0);
    EXPECT_FALSE(lie.log(g, w) > 0) << name_of(group);
    EXPECT_TRUE(std::isnan(w[0])) << name_of(group);
    EXPECT_FALSE(lie.polar_log(g, w) > 0) << name_of(group);
    EXPECT_TRUE(std::isnan(w[0]) && std::isnan(w.back())) << name_of(group);
    lie.frobenius_log(g, w);
    EXPECT_TRUE(std::isnan(w[0])) << name_of(group);
  }
}

Numbers map_of(const Numbers& A) {
  Numbers g = A;
  g.insert(g.end(), {1, 2});
  if (A.size() == 9) {
    g.push_back(3);
  }
  return g;
}
/// A matrix n x n, entries N(0, 1).
Numbers random_matrix(Stream& stream, int n) {
  Numbers A(n * n);
  std::ranges::generate(A, [&] { return stream.normal(); });
  return A;
}

// Where A is a half-turn on a plane, to rounding, the logarithm of what the rounding made is outside, or
// finite.
TEST(LieCharts, AffineHalfTurnsAreOutsideOrFinite) {
  const double last = std::ldexp(1.0, -52);
  const auto check = [](LieGroup group, const Numbers& g, bool outside) {
    Of of(group);
    Numbers w(g.size(), 7.0);
    const double margin = of.log(g, w);
    EXPECT_TRUE(std::isfinite(margin));
    EXPECT_TRUE(margin <= 0 || !outside);
    EXPECT_EQ(of.chart_margin(g), margin);
    for (const double x : w) {
      EXPECT_TRUE(std::isfinite(x) && (margin > 0 || x == 0)) << name_of(group) << " " << margin;
    }
  };
  check(LieGroup::aff2, map_of({-2.773460305003912, 0, 0, -2.7734603050039124}), true);
  check(LieGroup::aff2, map_of({-1 - last, 0, 0, -1}), true);
  check(LieGroup::aff2, map_of({-1, 0, 0, -1}), true);
  check(LieGroup::aff2, map_of({-1, 1e-12, 1e-13, -1}), true);
  check(LieGroup::aff2, map_of({-1, 1e-6, -1e-6, -1}), false);
  check(LieGroup::aff3, map_of({-1 - last, 0, 0, 0, -1, 0, 0, 0, 1}), true);
  check(LieGroup::aff3, map_of({-1, 0, 0, 0, -1, 0, 0, 0, 1}), true);
  check(LieGroup::aff3, map_of({-3, 0, 0, 0, 1e-3, 0, 0, 0, -3 * (1 + last)}), true);
  Stream stream(9, "half-turns");
  Of plane(LieGroup::aff2), space(LieGroup::aff3);
  for (int k = 0; k < 3000; ++k) {
    const Numbers A = map_of(random_matrix(stream, 2)), B = map_of(random_matrix(stream, 3));
    Numbers relative(6), far(12), turned = A, flipped = B;
    for (int i = 0; i < 4; ++i) {
      turned[i] = -A[i];
    }
    for (int i = 0; i < 9; ++i) {
      flipped[i] = i % 3 < 2 ? -B[i] : B[i];
    }
    plane.between(A, turned, relative);
    space.between(B, flipped, far);
    check(LieGroup::aff2, relative, false);
    check(LieGroup::aff3, far, true);
  }
}

// The chart is that of the eigenvalues; the margin is a minimum over x >= 0 of what is 1 at 0.
TEST(LieCharts, MarginsAreAtMostOne) {
  EXPECT_EQ(Lie<double>(LieGroup::aff3).chart_margin(map_of({0, 0, 0.05, 1, 0, -0.3, 0, 1, -1})), 1);
  Of of(LieGroup::aff3);
  Stream stream(10, "margins");
  int below = 0;
  for (int k = 0; k < 2000; ++k) {
    const double margin = of.chart_margin(map_of(random_matrix(stream, 3)));
    EXPECT_LE(margin, 1);
    below += margin > 0 && margin < 1;
  }
  EXPECT_GT(below, 50);
}

TEST(LieCharts, ASingularAffineMapIsOutside) {
  for (const auto& [group, A] : {std::pair{LieGroup::aff2, Numbers{1, 2, 2, 4}},
                                 {LieGroup::aff2, Numbers{0, 0, 0, 0}},
                                 {LieGroup::aff3, Numbers{1, 2, 3, 2, 4, 6, 0, 0, 1}}}) {
    const Numbers g = map_of(A);
    Numbers w(g.size(), 7.0);
    EXPECT_EQ(Lie<double>(group).log(g, w), -1);
    EXPECT_EQ(w, Numbers(w.size(), 0.0));
  }
}

}  // namespace charts_test
}  // namespace weyl
