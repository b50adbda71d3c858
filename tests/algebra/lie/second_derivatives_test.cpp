// Second derivatives of logarithms of relative elements.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/algebra/lie/differences.h"
#include "weyl/algebra/lie/formulas.h"

namespace weyl {
namespace second_derivatives_test {

namespace formulas = kernels::WEYL_ISA::lie;
using formulas::Dual;
using std::numbers::pi;

/// The gradient of <gw, log(a^-1 b)> by the numbers of a and b, and its derivative along (va, vb): the second
/// derivative is symmetric and agrees with differences of the first.
template <class G>
void expect_second(const typename G::template Element<double>& a,
                   const typename G::template Element<double>& b) {
  SCOPED_TRACE(name_of(G::group));
  constexpr int c = G::compact;
  using D = Dual<double, 1>;
  Stream stream(13, "second");
  const auto gw = tangent<G>(stream, 1);
  const auto gradient = [&]<class T>(const formulas::Vector<T, 2 * c>& x) {
    typename G::template Element<T> p, q, gp, gq;
    for (int i = 0; i < c; ++i) {
      p[i] = x[i];
      q[i] = x[c + i];
    }
    typename G::template Tangent<T> g;
    for (int k = 0; k < G::dof; ++k) {
      g[k] = T(gw[k]);
    }
    formulas::log_between_gradient<G, T>(p, q, g, gp, gq);
    formulas::Vector<T, 2 * c> y;
    for (int i = 0; i < c; ++i) {
      y[i] = gp[i];
      y[c + i] = gq[i];
    }
    return y;
  };
  const auto value = [&](const formulas::Vector<double, 2 * c>& x) {
    typename G::template Element<double> p, q;
    for (int i = 0; i < c; ++i) {
      p[i] = x[i];
      q[i] = x[c + i];
    }
    return formulas::dot(
        gw, G::log(formulas::between<G, double>(G::exactly_normalised(p), G::exactly_normalised(q))));
  };
  formulas::Vector<double, 2 * c> x;
  for (int i = 0; i < c; ++i) {
    x[i] = a[i];
    x[c + i] = b[i];
  }
  const auto first = gradient(x);
  const auto by_value = differences(2 * c, 1e-3, [&](int k, double h) {
    auto moved = x;
    moved[k] += h;
    return value(moved);
  });
  double hessian[2 * c][2 * c];
  for (int k = 0; k < 2 * c; ++k) {
    EXPECT_NEAR(first[k], by_value[k], 1e-7 * (1 + std::abs(first[k]))) << k;
    formulas::Vector<D, 2 * c> dual;
    for (int i = 0; i < 2 * c; ++i) {
      dual[i] = D(x[i]);
    }
    dual[k].d[0] = 1;
    const auto y = gradient(dual);
    for (int i = 0; i < 2 * c; ++i) {
      hessian[i][k] = y[i].d[0];
      EXPECT_TRUE(std::isfinite(hessian[i][k]));
    }
    const auto difference = differences(2 * c, 1e-3, [&](int i, double h) {
      auto moved = x;
      moved[k] += h;
      return gradient(moved)[i];
    });
    for (int i = 0; i < 2 * c; ++i) {
      EXPECT_NEAR(hessian[i][k], difference[i], 1e-6 * (1 + std::abs(hessian[i][k]))) << i << " " << k;
    }
  }
  for (int i = 0; i < 2 * c; ++i) {
    for (int k = 0; k < i; ++k) {
      EXPECT_NEAR(hessian[i][k], hessian[k][i], 1e-10 * (1 + std::abs(hessian[i][k]))) << i << " " << k;
    }
  }
}

template <class G>
void expect_seconds() {
  Stream stream(14, "pairs");
  const auto a = G::exp(tangent<G>(stream, 0.4)), b = G::exp(tangent<G>(stream, 0.4));
  expect_second<G>(a, b);
  expect_second<G>(a, a);  // the identity
  expect_second<G>(a, G::compose(a, G::exp(tangent<G>(stream, 1e-5))));
}

TEST(LieSecondDerivatives, AreFiniteSymmetricAndRight) {
  expect_seconds<SO2>();
  expect_seconds<SE2>();
  expect_seconds<SO3>();
  expect_seconds<SE3>();
  expect_seconds<AFF2>();
  expect_seconds<AFF3>();
  const double near = pi - 1e-2;
  expect_second<SE3>(SE3::identity<double>(), SE3::exp<double>({{1, 0.5, 2, near * 0.6, 0, near * 0.8}}));
  expect_second<AFF2>(AFF2::identity<double>(), {{2, 1, 0, 2, 1, 2}});
}

}  // namespace second_derivatives_test
}  // namespace weyl
