// Derivatives of logarithms of affine maps: against the block form of the matrix logarithm.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/algebra/lie/differences.h"
#include "weyl/algebra/lie/formulas.h"
#include "weyl/core/worst_of.h"

namespace weyl {
namespace block_logarithm_test {

namespace formulas = kernels::WEYL_ISA::lie;

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
    size = worst_of(size, static_cast<double>(std::abs(x)));
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      EXPECT_NEAR(gA[i][j], static_cast<double>(right[i * m + j]), 1e-12 * size);
    }
    EXPECT_NEAR(gt[i], static_cast<double>(right[i * m + n]), 1e-12 * size);
  }
}

TEST(LieBlockLogarithm, AffineGradientsAreTheBlockLogarithm) {
  Stream stream(12, "affine");
  for (const double scale : {0.0, 1e-6, 0.1, 0.5}) {
    expect_block<AFF2>(AFF2::exp(tangent<AFF2>(stream, scale)));
    expect_block<AFF3>(AFF3::exp(tangent<AFF3>(stream, scale)));
  }
  expect_block<AFF2>({{2, 1, 0, 2, 1, 2}});
  expect_block<AFF3>({{2, 1, 0.5, 0, 2, 1, 0, 0, 2, 1, 2, 3}});
}

}  // namespace block_logarithm_test
}  // namespace weyl
