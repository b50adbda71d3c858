#include "weyl/algebra/irreps/wigner.h"

#include <cmath>
#include <numbers>

#include "weyl/algebra/irreps/clebsch_gordan.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr double half = std::numbers::sqrt2 / 2;

/// Y_1 = sqrt(3 / 4 pi) U p.
const IrrepMatrix harmonics_of_axes{{half, 0}, {0, -half}, 0, 0, 0, 1, {-half, 0}, {0, -half}, 0};

void require_degree(const char* where, int64_t degree) {
  require(degree >= 0 && degree <= 64, where, ": degree must be from 0 to 64, got ", degree);
}

IrrepMatrix of_degree_one(std::span<const double, 9> r) {
  const IrrepMatrix rotation(r.begin(), r.end());
  return product(product(harmonics_of_axes, rotation, 3), adjoint(harmonics_of_axes, 3), 3);
}

/// D_l of D_(l-1) and D_1: what C (D_(l-1) x D_1) C^T leaves of degree l.
IrrepMatrix coupled(const IrrepMatrix& before, const IrrepMatrix& one, int64_t l) {
  const ClebschGordan c(l - 1, 1, l);
  const int64_t n = 2 * l + 1, k = 2 * l - 1;
  IrrepMatrix result(static_cast<size_t>(n * n));
  for (int64_t m = -l; m <= l; ++m) {
    for (int64_t mm = -l; mm <= l; ++mm) {
      std::complex<double> sum = 0;
      for (int64_t a = -1; a <= 1; ++a) {
        for (int64_t b = -1; b <= 1; ++b) {
          const int64_t m1 = m - a, n1 = mm - b;
          if (std::abs(m1) < l && std::abs(n1) < l) {
            sum +=
                c(m, m1, a) * c(mm, n1, b) * before[(m1 + l - 1) * k + n1 + l - 1] * one[(a + 1) * 3 + b + 1];
          }
        }
      }
      result[(m + l) * n + mm + l] = sum;
    }
  }
  return result;
}

}  // namespace

IrrepMatrix product(const IrrepMatrix& a, const IrrepMatrix& b, int64_t n) {
  IrrepMatrix result(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < n; ++k) {
        result[i * n + j] += a[i * n + k] * b[k * n + j];
      }
    }
  }
  return result;
}

IrrepMatrix adjoint(const IrrepMatrix& a, int64_t n) {
  IrrepMatrix result(a.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      result[j * n + i] = std::conj(a[i * n + j]);
    }
  }
  return result;
}

std::vector<IrrepMatrix> wigner(int64_t degree, std::span<const double, 9> r) {
  require_degree("wigner", degree);
  double off = 0;
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 3; ++j) {
      double dot = i == j ? -1 : 0;
      for (int64_t k = 0; k < 3; ++k) {
        dot += r[3 * i + k] * r[3 * j + k];
      }
      off = std::isfinite(dot) ? std::max(off, std::abs(dot)) : INFINITY;
    }
  }
  require(off <= 1e-6, "wigner: the matrix must be orthogonal, got |R R^T - 1| = ", off);
  std::vector<IrrepMatrix> result{{1}};
  const IrrepMatrix one = of_degree_one(r);
  for (int64_t l = 1; l <= degree; ++l) {
    result.push_back(l == 1 ? one : coupled(result.back(), one, l));
  }
  return result;
}

IrrepMatrix to_escnn(int64_t degree) {
  require_degree("to_escnn", degree);
  const int64_t n = 2 * degree + 1;
  IrrepMatrix q(static_cast<size_t>(n * n));
  const auto at = [&](int64_t row, int64_t m) -> std::complex<double>& {
    return q[(row + degree) * n + m + degree];
  };
  at(0, 0) = 1;
  for (int64_t m = 1; m <= degree; ++m) {
    const double sign = m % 2 == 0 ? 1 : -1;
    at(m, m) = sign * half;  // sqrt 2 (-1)^m Re Y_m
    at(m, -m) = half;
    at(-m, m) = {0, -sign * half};  // sqrt 2 (-1)^m Im Y_m
    at(-m, -m) = {0, half};
  }
  return q;
}

IrrepMatrix to_e3nn(int64_t degree) {
  require_degree("to_e3nn", degree);
  constexpr double y_to_z[9] = {0, 0, 1, 1, 0, 0, 0, 1, 0};  // (x, y, z) -> (z, x, y)
  return product(to_escnn(degree), wigner(degree, y_to_z).back(), 2 * degree + 1);
}

}  // namespace weyl
