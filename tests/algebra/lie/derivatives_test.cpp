// Derivatives of logarithms: against differences, at the identity, at Jordan blocks and near half-turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "tests/algebra/lie/differences.h"
#include "weyl/algebra/lie/formulas.h"
#include "weyl/algebra/lie/group.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace derivatives_test {

namespace formulas = kernels::WEYL_ISA::lie;
using formulas::Dual;
using std::numbers::pi;

/// The adjoint of the logarithm at g against differences of <gw, log> by perturbations on either side.
template <class G>
void expect_adjoint(const typename G::template Element<double>& g, double h, double tolerance) {
  SCOPED_TRACE(name_of(G::group));
  Stream stream(6, "adjoint");
  const auto gw = tangent<G>(stream, 1);
  typename G::template Tangent<double> left, right;
  formulas::log_adjoint<G, double>(g, gw, left, right);
  const auto value = [&](int k, double e, bool before) {
    auto w = formulas::zeros<double, G::dof>();
    w[k] = before ? -e : e;
    const auto step = G::exp(w);
    return formulas::dot(gw, G::log(before ? G::compose(step, g) : G::compose(g, step)));
  };
  const auto by_left = differences(G::dof, h, [&](int k, double e) { return value(k, e, true); });
  const auto by_right = differences(G::dof, h, [&](int k, double e) { return value(k, e, false); });
  for (int k = 0; k < G::dof; ++k) {
    EXPECT_NEAR(left[k], by_left[k], tolerance * (1 + std::abs(left[k]))) << k;
    EXPECT_NEAR(right[k], by_right[k], tolerance * (1 + std::abs(right[k]))) << k;
  }
}

// The control: where the group does not commute, the two sides differ, so neither passes for the other.
template <class G>
void expect_sides_to_differ(const typename G::template Element<double>& g) {
  Stream stream(6, "adjoint");
  typename G::template Tangent<double> left, right;
  formulas::log_adjoint<G, double>(g, tangent<G>(stream, 1), left, right);
  double most = 0;
  for (int k = 0; k < G::dof; ++k) {
    most = worst_of(most, std::abs(left[k] + right[k]));
  }
  EXPECT_EQ(most > 0.01, G::group != LieGroup::so2) << name_of(G::group);
}

template <class G>
void expect_adjoints() {
  Stream stream(7, "elements");
  expect_adjoint<G>(G::template identity<double>(), 1e-3, 1e-7);
  for (const double scale : {1e-9, 1e-4, 0.1, 0.5, 0.8}) {
    expect_adjoint<G>(G::exp(tangent<G>(stream, scale)), 1e-3, 1e-7);
  }
  expect_sides_to_differ<G>(G::exp(tangent<G>(stream, 0.5)));
}

TEST(LieDerivatives, AdjointOfLogIsTheGradient) {
  expect_adjoints<SO2>();
  expect_adjoints<SE2>();
  expect_adjoints<SO3>();
  expect_adjoints<SE3>();
  expect_adjoints<AFF2>();
  expect_adjoints<AFF3>();
}

TEST(LieDerivatives, AdjointOfLogNearHalfTurnsAndAtJordanBlocks) {
  const double near = pi - 1e-3;
  expect_adjoint<SO3>(SO3::exp<double>({{near * 2 / 7, near * 3 / 7, near * 6 / 7}}), 1e-4, 1e-7);
  expect_adjoint<SE3>(SE3::exp<double>({{1, -2, 0.5, near * 2 / 7, near * 3 / 7, near * 6 / 7}}), 1e-4, 1e-7);
  expect_adjoint<SE2>(SE2::exp<double>({{1, -2, near}}), 1e-4, 1e-7);
  expect_adjoint<AFF2>({{2, 1, 0, 2, 1, 2}}, 1e-3, 1e-7);
  expect_adjoint<AFF2>({{1, 0, 0, 3, 1, 2}}, 1e-3, 1e-7);
  expect_adjoint<AFF2>({{1, 1e-7, 0, 1, 1, 2}}, 1e-3, 1e-7);
  expect_adjoint<AFF3>({{2, 1, 0.5, 0, 2, 1, 0, 0, 2, 1, 2, 3}}, 1e-3, 1e-7);
  expect_adjoint<AFF3>({{1, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3}}, 1e-3, 1e-7);
  expect_adjoint<AFF2>(AFF2::exp<double>({{1, 2, pi - 1e-2, 0.3, 0, 0}}), 1e-4, 1e-6);
  // Wide exponents: the far forms of the divided differences.
  expect_adjoint<AFF2>(AFF2::exp<double>({{1, 2, 0.3, 5, 0.1, 0.2}}), 1e-3, 1e-7);
  expect_adjoint<AFF2>(AFF2::exp<double>({{1, 2, 0.3, 5, 4.9, 0.2}}), 1e-3, 1e-7);
  expect_adjoint<AFF2>(AFF2::exp<double>({{1, 2, 0.3, 0.2, 4.8, 0.2}}), 1e-3, 1e-7);
}

// Through the run-time interface: both gradients of <gw, log(a^-1 b)>, and the one by the numbers of b.
TEST(LieDerivatives, TheRunTimeInterfaceHasTheGradients) {
  for (const LieGroup group : lie_groups) {
    SCOPED_TRACE(name_of(group));
    const Lie<double> lie(group);
    Stream stream(15, "run time");
    const size_t dof = degrees_of_freedom(group), size = compact_size(group);
    const auto numbers = [&](size_t n, double scale) {
      std::vector<double> x(n);
      std::ranges::generate(x, [&] { return scale * stream.normal(); });
      return x;
    };
    std::vector<double> a(size), b(size), step(size), moved(size), relative(size), w(dof), by_a(dof),
        by_b(dof), by_element(size);
    lie.exp(numbers(dof, 0.4), a);
    lie.exp(numbers(dof, 0.4), b);
    const std::vector<double> gw = numbers(dof, 1);
    const auto value = [&](const std::vector<double>& x, const std::vector<double>& y) {
      lie.between(x, y, relative);
      lie.log(relative, w);
      return std::inner_product(w.begin(), w.end(), gw.begin(), 0.0);
    };
    lie.log_adjoint(a, b, gw, by_a, by_b);
    lie.compact_gradient(b, by_b, by_element);
    const auto perturbed = [&](const std::vector<double>& g, int k, double h) {
      std::vector<double> e(dof, 0.0);
      e[k] = h;
      lie.exp(e, step);
      lie.compose(g, step, moved);
      return moved;
    };
    const int n = static_cast<int>(dof);
    const auto from_a = differences(n, 1e-3, [&](int k, double h) { return value(perturbed(a, k, h), b); });
    const auto from_b = differences(n, 1e-3, [&](int k, double h) { return value(a, perturbed(b, k, h)); });
    for (size_t k = 0; k < dof; ++k) {
      EXPECT_NEAR(by_a[k], from_a[k], 1e-7 * (1 + std::abs(by_a[k])));
      EXPECT_NEAR(by_b[k], from_b[k], 1e-7 * (1 + std::abs(by_b[k])));
      // d b = b hat(e_k): the gradient by the numbers of b along it is the one by e_k.
      const auto plus = perturbed(b, static_cast<int>(k), 1e-6),
                 minus = perturbed(b, static_cast<int>(k), -1e-6);
      double along = 0;
      for (size_t c = 0; c < size; ++c) {
        along += by_element[c] * (plus[c] - minus[c]) / 2e-6;
      }
      EXPECT_NEAR(along, by_b[k], 1e-8 * (1 + std::abs(by_b[k])));
    }
  }
}

/// exp at 0 has the generators for derivatives, exactly, and second derivatives that are finite.
template <class G>
void expect_generators() {
  SCOPED_TRACE(name_of(G::group));
  using D = Dual<double, G::dof>;
  typename G::template Tangent<D> w;
  for (int k = 0; k < G::dof; ++k) {
    w[k] = D(0.0);
    w[k].d[k] = 1;
  }
  const auto x = G::to_matrix(G::exp(w));
  for (int k = 0; k < G::dof; ++k) {
    auto unit = formulas::zeros<double, G::dof>();
    unit[k] = 1;
    const auto E = G::hat(unit);
    for (int i = 0; i < G::matrix; ++i) {
      for (int j = 0; j < G::matrix; ++j) {
        EXPECT_NEAR(x[i][j].d[k], E[i][j], 1e-15);
      }
    }
  }
}

TEST(LieDerivatives, ExpAtZeroHasTheGenerators) {
  expect_generators<SO2>();
  expect_generators<SE2>();
  expect_generators<SO3>();
  expect_generators<SE3>();
  expect_generators<AFF2>();
  expect_generators<AFF3>();
}

}  // namespace derivatives_test
}  // namespace weyl
