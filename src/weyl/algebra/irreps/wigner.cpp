#include "weyl/algebra/irreps/wigner.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using Real = long double;

/// The factor of J+ |j m> = factor |j m+1>.
Real raised(int64_t j, int64_t m) {
  return std::sqrt(static_cast<Real>((j - m) * (j + m + 1)));
}

}  // namespace

ClebschGordan::ClebschGordan(int64_t l1, int64_t l2, int64_t l) : l1_(l1), l2_(l2), l_(l) {
  require(std::min({l1, l2, l}) >= 0 && std::max({l1, l2, l}) <= 64,
          "ClebschGordan: degrees must be from 0 to 64, got (", l1, ", ", l2, ", ", l, ")");
  values_.assign(static_cast<size_t>((2 * l + 1) * (2 * l1 + 1) * (2 * l2 + 1)), 0);
  if (!triangle(l1, l2, l)) {
    return;
  }
  const auto place = [&](int64_t m, int64_t m1) {
    return static_cast<size_t>(((m + l) * (2 * l1 + 1) + m1 + l1) * (2 * l2 + 1) + m - m1 + l2);
  };
  // |l l> is what J+ = J1+ + J2+ takes to zero: from its largest m1 downwards.
  std::vector<Real> state(static_cast<size_t>(2 * l1 + 2), 0);  // by m1 + l1, zero where m2 is none
  const auto first = [&](int64_t m) { return std::max(-l1, m - l2); };
  const auto last = [&](int64_t m) { return std::min(l1, m + l2); };
  Real norm = state[2 * l1] = 1;
  for (int64_t m1 = l1 - 1; m1 >= first(l); --m1) {
    state[m1 + l1] = -state[m1 + 1 + l1] * raised(l2, l - m1 - 1) / raised(l1, m1);
    norm += state[m1 + l1] * state[m1 + l1];
  }
  for (Real& c : state) {
    c /= std::sqrt(norm);
  }
  const int64_t sign = (l1 + l2 - l) % 2 == 0 ? 1 : -1;
  for (int64_t m = l;; --m) {
    for (int64_t m1 = first(m); m1 <= last(m); ++m1) {
      const auto c = static_cast<double>(state[m1 + l1]);
      values_[place(m, m1)] = c;
      values_[place(-m, -m1)] = static_cast<double>(sign) * c;
    }
    if (m == 0) {
      return;
    }
    // J- |l m>: of |m1 m2> from |m1+1 m2> and |m1 m2+1>.
    std::vector<Real> below(state.size(), 0);
    for (int64_t m1 = first(m - 1); m1 <= last(m - 1); ++m1) {
      const int64_t m2 = m - 1 - m1;
      const Real from1 = m1 < l1 ? state[m1 + 1 + l1] * raised(l1, m1) : 0;
      const Real from2 = m2 < l2 ? state[m1 + l1] * raised(l2, m2) : 0;
      below[m1 + l1] = (from1 + from2) / raised(l, m - 1);
    }
    state = std::move(below);
  }
}

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
