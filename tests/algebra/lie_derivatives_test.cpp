// Derivatives of logarithms: against differences, against the block form of the matrix logarithm, at the
// identity, at Jordan blocks and near half-turns, to second order.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "tests/lie_groups.h"
#include "weyl/algebra/lie_formulas.h"
#include "weyl/algebra/lie_group.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

namespace formulas = kernels::WEYL_ISA::lie;
using formulas::Dual;
using std::numbers::pi;

template <class G>
typename G::template Tangent<double> tangent(Stream& stream, double scale) {
  typename G::template Tangent<double> w;
  for (int k = 0; k < G::dof; ++k) {
    w[k] = scale * stream.normal();
  }
  return w;
}

/// Of `of(x)` by each of the n numbers of x: central differences of fourth order.
template <class Of>
std::vector<double> differences(int n, double h, Of of) {
  std::vector<double> d(n);
  for (int k = 0; k < n; ++k) {
    d[k] = (8 * (of(k, h) - of(k, -h)) - (of(k, 2 * h) - of(k, -2 * h))) / (12 * h);
  }
  return d;
}

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
    most = std::max(most, std::abs(left[k] + right[k]));
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

/// log of a real (2n + 2) block matrix ((M, E), (0, M)) by square roots (Denman and Beavers) and the series
/// of log(1 + x), in long double: its upper right block is the derivative of log at M along E.
std::vector<long double> block_log(int m, const std::vector<long double>& M,
                                   const std::vector<long double>& E) {
  using Real = long double;
  const int n = 2 * m;
  using Matrix = std::vector<Real>;
  const auto times = [n](const Matrix& a, const Matrix& b) {
    Matrix y(n * n, 0);
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j) {
          y[i * n + j] += a[i * n + k] * b[k * n + j];
        }
      }
    }
    return y;
  };
  const auto inverse = [n](Matrix a) {
    Matrix y(n * n, 0);
    for (int i = 0; i < n; ++i) {
      y[i * n + i] = 1;
    }
    for (int c = 0; c < n; ++c) {
      int pivot = c;
      for (int r = c; r < n; ++r) {
        pivot = std::abs(a[r * n + c]) > std::abs(a[pivot * n + c]) ? r : pivot;
      }
      for (int j = 0; j < n; ++j) {
        std::swap(a[c * n + j], a[pivot * n + j]);
        std::swap(y[c * n + j], y[pivot * n + j]);
      }
      const Real over = 1 / a[c * n + c];
      for (int j = 0; j < n; ++j) {
        a[c * n + j] *= over;
        y[c * n + j] *= over;
      }
      for (int r = 0; r < n; ++r) {
        const Real f = a[r * n + c];
        for (int j = 0; r != c && j < n; ++j) {
          a[r * n + j] -= f * a[c * n + j];
          y[r * n + j] -= f * y[c * n + j];
        }
      }
    }
    return y;
  };
  Matrix root(n * n, 0), one(n * n, 0);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      root[i * n + j] = root[(m + i) * n + m + j] = M[i * m + j];
      root[i * n + m + j] = E[i * m + j];
    }
  }
  for (int i = 0; i < n; ++i) {
    one[i * n + i] = 1;
  }
  for (int k = 0; k < 6; ++k) {
    Matrix y = root, z = one;
    for (int step = 0; step < 20; ++step) {
      const Matrix iy = inverse(y), iz = inverse(z);
      for (int i = 0; i < n * n; ++i) {
        y[i] = (y[i] + iz[i]) / 2;
        z[i] = (z[i] + iy[i]) / 2;
      }
    }
    root = y;
  }
  for (int i = 0; i < n; ++i) {
    root[i * n + i] -= 1;
  }
  Matrix power = root, sum(n * n, 0);
  for (int k = 1; k < 40; ++k) {
    for (int i = 0; i < n * n; ++i) {
      sum[i] += (k % 2 ? 64 : -64) * power[i] / k;
    }
    power = times(power, root);
  }
  Matrix block(m * m);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      block[i * m + j] = sum[i * n + m + j];
    }
  }
  return block;
}

/// gradient by the matrix (A, t) = top rows of L_log(M^T; G), G the gradient by (X, u) with a zero last row.
template <class G>
void expect_block(const typename G::template Element<double>& g) {
  constexpr int n = G::dimension, m = n + 1;
  Stream stream(11, "block");
  const auto gw = tangent<G>(stream, 1);
  formulas::Matrix<double, n> gA;
  formulas::Vector<double, n> gt;
  G::log_gradient(g, gw, gA, gt);
  const auto M = G::to_matrix(g);
  const auto C = G::cogenerator(gw);
  std::vector<long double> transposed(m * m), E(m * m, 0);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      transposed[i * m + j] = M[j][i];
      E[i * m + j] = i == n ? 0 : j == n ? gw[i] : C[i][j];
    }
  }
  const auto right = block_log(m, transposed, E);
  double size = 1;
  for (const long double x : right) {
    size = std::max(size, static_cast<double>(std::abs(x)));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      EXPECT_NEAR(gA[i][j], static_cast<double>(right[i * m + j]), 1e-12 * size);
    }
    EXPECT_NEAR(gt[i], static_cast<double>(right[i * m + n]), 1e-12 * size);
  }
}

TEST(LieDerivatives, AffineGradientsAreTheBlockLogarithm) {
  Stream stream(12, "affine");
  for (const double scale : {0.0, 1e-6, 0.1, 0.5}) {
    expect_block<AFF2>(AFF2::exp(tangent<AFF2>(stream, scale)));
    expect_block<AFF3>(AFF3::exp(tangent<AFF3>(stream, scale)));
  }
  expect_block<AFF2>({{2, 1, 0, 2, 1, 2}});
  expect_block<AFF3>({{2, 1, 0.5, 0, 2, 1, 0, 0, 2, 1, 2, 3}});
}

// Of the run-time interface: both gradients of <gw, log(a^-1 b)>, and the one by the numbers of b.
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

TEST(LieDerivatives, SecondDerivativesAreFiniteSymmetricAndRight) {
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

}  // namespace
}  // namespace weyl
