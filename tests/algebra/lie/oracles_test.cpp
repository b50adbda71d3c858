// The numbers of the fact sheet: closed forms, half-turns, charts, invariance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "tests/lie_groups.h"
#include "weyl/algebra/lie/formulas.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace oracles_test {

using std::numbers::pi;
using Numbers = std::vector<double>;

/// (V^-1 t, X row-major) of (A row-major, t).
template <class G>
Numbers log_of(const typename G::template Element<double>& g) {
  const auto w = G::log(g);
  const auto X = G::generator(w);
  Numbers y(w.v, w.v + G::dimension);
  y.insert(y.end(), &X[0][0], &X[0][0] + G::dimension * G::dimension);
  return y;
}

void expect_near(const Numbers& found, const Numbers& wanted, double tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], wanted[i], tolerance) << "number " << i;
  }
}

TEST(LieOracles, AffinePlane) {
  const double ln2 = std::log(2.0), ln3 = std::log(3.0);
  expect_near(log_of<AFF2>({{2, 1, 0, 2, 1, 2}}), {0.3068528194400545, 1.3862943611198904, ln2, 0.5, 0, ln2},
              1e-15);
  expect_near(log_of<AFF2>({{0, -2, 0.5, 0, 1, 2}}),
              {3.9269908169872414, 1.1780972450961724, 0, -pi, pi / 4, 0}, 2e-15);
  expect_near(log_of<AFF2>({{1, 0, 0, 3, 1, 2}}), {1, 1.0986122886681091, 0, 0, 0, ln3}, 1e-15);
  expect_near(log_of<AFF2>({{1.5, 0.4, -0.3, 0.8, 0.7, -1.2}}),
              {0.750159286777225, -1.205963178762112, 0.443355687762844, 0.348045507958519,
               -0.261034130968889, -0.165723951164564},
              2e-15);
}

TEST(LieOracles, AffineSpace) {
  expect_near(log_of<AFF3>({{1.2, 0.3, -0.1, -0.2, 0.9, 0.4, 0.1, -0.3, 1.1, 0.5, -1, 2}}),
              {0.7084996836950923, -1.3038811675969972, 1.6749579479787475, 0.2101615505609198,
               0.2594272050891598, -0.1313068892646274, -0.1974048269148442, -0.016661178721036,
               0.3703562969742843, 0.0579468186984153, -0.2961072403722654, 0.1522147318625042},
              3e-15);
}

TEST(LieOracles, ExpOfRigidMotions) {
  const auto flat = SE2::exp<double>({{1, 2, 0.7}});
  expect_near({flat.v, flat.v + 4},
              {0.248431516866669, 2.176561695986991, 0.764842187284488, 0.644217687237691}, 1e-15);
  const auto m = SE3::to_matrix(SE3::exp<double>({{1, 2, 3, 0.3, -0.5, 0.8}}));
  expect_near({m[0][3], m[1][3], m[2][3], m[0][0], m[1][0], m[2][0]},
              {-0.502063493766574, 1.508039016103857, 3.255798195227376, 0.590175056325361, 0.606517000160686,
               0.532757478978418},
              2e-15);
}

template <class T>
void expect_half_turns() {
  const T eps = std::numeric_limits<T>::epsilon();
  const double axis[3] = {2.0 / 7, -3.0 / 7, 6.0 / 7};
  for (int k = 1; k <= 8; ++k) {
    const double theta = k == 8 ? pi : pi - std::pow(10.0, -k);
    SO3::Element<T> q;
    for (int i = 0; i < 3; ++i) {
      q[i] = static_cast<T>(std::sin(theta / 2) * axis[i]);
    }
    q[3] = k == 8 ? T(0) : static_cast<T>(std::cos(theta / 2));
    const auto w = SO3::log(q);
    double off = 0, size = 0;
    // The reference at the rounded quaternion: its own angle and axis, in long double.
    long double n = 0;
    for (int i = 0; i < 3; ++i) {
      n += static_cast<long double>(q[i]) * q[i];
    }
    n = std::sqrt(n);
    const long double angle = 2 * std::atan2(n, static_cast<long double>(q[3]));
    for (int i = 0; i < 3; ++i) {
      const double right = static_cast<double>(angle * q[i] / n);
      off += (w[i] - right) * (w[i] - right);
      size += right * right;
    }
    EXPECT_LE(std::sqrt(off / size), 5 * eps) << k;
    const SO3::Tangent<T> gw{{1, 2, -1}};
    SO3::Tangent<T> left, right;
    kernels::WEYL_ISA::lie::log_adjoint<SO3, T>(q, gw, left, right);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isfinite(left[i]) && std::abs(left[i]) < 10) << k;
      EXPECT_TRUE(std::isfinite(right[i]) && std::abs(right[i]) < 10) << k;
    }
  }
  const auto turned = SO3::log<T>({{0, 0, 1, 0}});
  EXPECT_NEAR(turned[2], pi, 4 * eps);
  EXPECT_EQ(SO3::margin<T>({{0, 0, 1, 0}}), 0);
}

TEST(LieOracles, LogarithmsAndGradientsUpToTheHalfTurn) {
  expect_half_turns<double>();
  expect_half_turns<float>();
}

/// From the eigenvalues, by the quadratic or Cardano's formula in complex numbers: none on the closed
/// negative half line.
bool in_chart(const Numbers& A) {
  const int n = A.size() == 4 ? 2 : 3;
  std::vector<std::complex<double>> roots;
  if (n == 2) {
    const double m = (A[0] + A[3]) / 2;
    const auto d = std::sqrt(std::complex<double>(m * m - (A[0] * A[3] - A[1] * A[2])));
    roots = {m + d, m - d};
  } else {
    // Durand and Kerner on the characteristic polynomial.
    const auto at = [&](int i, int j) { return A[3 * i + j]; };
    const auto minor = [&](int i, int j) { return at(i, i) * at(j, j) - at(i, j) * at(j, i); };
    const double a = at(0, 0) + at(1, 1) + at(2, 2), b = minor(0, 1) + minor(0, 2) + minor(1, 2);
    const double c = at(0, 0) * minor(1, 2) - at(0, 1) * (at(1, 0) * at(2, 2) - at(1, 2) * at(2, 0)) +
                     at(0, 2) * (at(1, 0) * at(2, 1) - at(1, 1) * at(2, 0));
    roots = {{1, 0}, {0.4, 0.9}, {-0.65, 0.72}};
    for (double moved = 1; moved > 1e-14;) {
      moved = 0;
      for (int i = 0; i < 3; ++i) {
        const auto x = roots[i];
        const auto by = (((x - a) * x + b) * x - c) / ((x - roots[(i + 1) % 3]) * (x - roots[(i + 2) % 3]));
        roots[i] -= by;
        moved = worst_of(moved, std::norm(by));
      }
    }
  }
  return std::ranges::none_of(
      roots, [](auto x) { return x.real() <= 0 && std::abs(x.imag()) < 1e-7 * std::max(1.0, std::abs(x)); });
}

TEST(LieOracles, ChartsAgreeWithEigenvalues) {
  Stream stream(8, "charts");
  for (const auto& [group, count] : {std::pair{LieGroup::aff2, 100000}, {LieGroup::aff3, 100000}}) {
    const int n = dimension_of(group);
    const Lie<double> lie(group);
    int inside = 0, disagreements = 0;
    for (int k = 0; k < count; ++k) {
      Numbers g(lie.group == LieGroup::aff2 ? 6 : 12);
      std::ranges::generate(g, [&] { return stream.normal(); });
      const bool right = in_chart({g.begin(), g.begin() + n * n});
      disagreements += (lie.chart_margin(g) > 0) != right;
      inside += right;
    }
    EXPECT_EQ(disagreements, 0) << name_of(group);
    EXPECT_GT(inside, 3 * count / 10) << name_of(group);
    EXPECT_LT(inside, count / 2) << name_of(group);
  }
}

TEST(LieOracles, ChartsOfSingleMatrices) {
  const Lie<double> plane(LieGroup::aff2), space(LieGroup::aff3);
  const auto flat = [&](Numbers A) {
    A.insert(A.end(), {1, 2});
    return plane.chart_margin(A);
  };
  const auto solid = [&](double a, double b, double c) {
    return space.chart_margin(Numbers{a, 0, 0, 0, b, 0, 0, 0, c, 1, 2, 3});
  };
  EXPECT_LE(flat({-1, 0, 0, -1}), 0);
  EXPECT_LE(flat({-1, 0, 0, -2}), 0);
  EXPECT_LE(solid(1, -2, -3), 0);
  EXPECT_LE(solid(-1, -1, 1), 0);
  EXPECT_EQ(solid(-1, 2, 3), -1);
  EXPECT_EQ(flat({1, 0, 0, -1}), -1);
  EXPECT_EQ(flat({1, 2, 2, 4}), -1);
  EXPECT_EQ(solid(1, 2, 3), 1);
  const double angle = pi - 1e-6, c = std::cos(angle), s = std::sin(angle);
  EXPECT_GT(flat({c, -s, s, c}), 0);
  EXPECT_GT(space.chart_margin(Numbers{c, -s, 0, s, c, 0, 0, 0, 2, 1, 2, 3}), 0);
  Numbers w(6, 7.0), outside{-1, 0, 0, -2, 1, 2};
  EXPECT_LE(plane.log(outside, w), 0);
  expect_near(w, Numbers(6, 0.0), 0);
}

/// Mean over random (a, g_i, g_j) of |log((a g_i)^-1 a g_j) - log(g_i^-1 g_j)|^2, a g rounded to T.
template <class T>
double invariance(LieGroup group) {
  const Lie<double> exact(group);
  const Lie<T> lie(group);
  Stream stream(9, "invariance");
  const size_t size = compact_size(group);
  double sum = 0;
  int count = 0;
  for (int k = 0; k < 1000; ++k) {
    Numbers a(size), g[2] = {a, a}, moved(size);
    exact.random(stream, a);
    std::vector<T> w[2];
    bool inside = true;
    std::vector<T> before[2], after[2];
    for (int i = 0; i < 2; ++i) {
      exact.random(stream, g[i]);
      before[i].assign(g[i].begin(), g[i].end());
      Numbers rounded(before[i].begin(), before[i].end());
      exact.compose(a, rounded, moved);
      after[i].assign(moved.begin(), moved.end());
    }
    for (int i = 0; i < 2; ++i) {
      const auto& pair = i == 0 ? before : after;
      std::vector<T> relative(size);
      w[i].resize(degrees_of_freedom(group));
      lie.between(pair[0], pair[1], relative);
      inside &= lie.log(relative, w[i]) > T(0.05);
    }
    if (inside) {
      for (size_t i = 0; i < w[0].size(); ++i) {
        const double d = static_cast<double>(w[0][i]) - w[1][i];
        sum += d * d;
      }
      ++count;
    }
  }
  EXPECT_GT(count, 300) << name_of(group);
  return sum / count;
}

TEST(LieOracles, RelativeLogarithmsAreInvariant) {
  for (const LieGroup group : lie_groups) {
    EXPECT_LE(invariance<float>(group), 1e-11) << name_of(group);
    EXPECT_LE(invariance<double>(group), 1e-27) << name_of(group);
    std::printf("%s: mean |dw|^2 %.1e (float32) %.1e (float64)\n", name_of(group).data(),
                invariance<float>(group), invariance<double>(group));
  }
  // The control: another relative pose, g_i g_j^-1, is not invariant.
  const Lie<double> lie(LieGroup::se3);
  Stream stream(10, "control");
  Numbers a(7), g(7), h(7), x(7), y(7), back(7), w(6), v(6);
  lie.random(stream, a);
  lie.random(stream, g);
  lie.random(stream, h);
  const auto wrong = [&](const Numbers& p, const Numbers& q, Numbers& out) {
    lie.inverse(q, back);
    lie.compose(p, back, x);
    lie.log(x, out);
  };
  wrong(g, h, w);
  lie.compose(a, g, y);
  g = y;
  lie.compose(a, h, y);
  wrong(g, y, v);
  EXPECT_GT(std::abs(w[3] - v[3]), 1e-3);
}

TEST(LieOracles, ConstantStepsHaveMultiplesOfOneLogarithm) {
  Stream stream(11, "steps");
  for (const LieGroup group : lie_groups) {
    const Lie<double> lie(group);
    Numbers step(degrees_of_freedom(group)), h(compact_size(group)), g = h, next = h, w = step;
    std::ranges::generate(step, [&] { return 0.15 * stream.normal(); });
    lie.exp(step, h);
    lie.identity(g);
    for (int k = 1; k <= 7; ++k) {
      lie.compose(g, h, next);
      g = next;
      lie.normalise(g);
      EXPECT_GT(lie.log(g, w), 0);
      for (size_t i = 0; i < w.size(); ++i) {
        EXPECT_NEAR(w[i], k * step[i], 1e-13) << name_of(group) << " " << k;
      }
    }
  }
}

}  // namespace oracles_test
}  // namespace weyl
