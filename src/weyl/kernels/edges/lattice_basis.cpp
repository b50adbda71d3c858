#include "weyl/kernels/edges/lattice_basis.h"

#include <cmath>
#include <vector>

namespace weyl::kernels {
namespace {

constexpr double singular = 1e-10;          // volume relative to the product of the lengths
constexpr double most_multiples = 1 << 30;  // multiples of one vector in another

Vector3 cross_of(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector3 scaled(const Vector3& a, double by) {
  return {a[0] * by, a[1] * by, a[2] * by};
}

/// Shortens periodic vectors by integer multiples of one another until none can be: the lattice stays.
bool reduce(LatticeBasis& basis, const std::array<bool, 3>& periodic) {
  for (int rounds = 0; rounds < 10000; ++rounds) {
    bool changed = false;
    for (int k = 0; k < 3; ++k) {
      for (int l = 0; l < 3; ++l) {
        if (k == l || !periodic[k] || !periodic[l]) {
          continue;
        }
        const Vector3 &a = basis.rows[k], &b = basis.rows[l];
        const double times = std::nearbyint(dot_of(a, b) / dot_of(b, b));
        if (!(std::abs(times) < most_multiples)) {
          return false;
        }
        const Vector3 shorter{a[0] - times * b[0], a[1] - times * b[1], a[2] - times * b[2]};
        if (times != 0 && dot_of(shorter, shorter) < dot_of(a, a) * (1 - 1e-12)) {
          basis.rows[k] = shorter;
          for (int c = 0; c < 3; ++c) {
            basis.given[k][c] -= static_cast<int64_t>(times) * basis.given[l][c];
            if (!(std::abs(static_cast<double>(basis.given[k][c])) < most_multiples)) {
              return false;
            }
          }
          changed = true;
        }
      }
    }
    if (!changed) {
      return true;
    }
  }
  return true;
}

/// Fills the axes that are not periodic with unit vectors normal to all before them.
void complete(LatticeBasis& basis, const std::array<bool, 3>& periodic) {
  std::vector<Vector3> known;  // orthonormal
  const auto rest_of = [&](Vector3 v) {
    for (const Vector3& u : known) {
      const double along = dot_of(u, v);
      v = {v[0] - along * u[0], v[1] - along * u[1], v[2] - along * u[2]};
    }
    return v;
  };
  for (int k = 0; k < 3; ++k) {
    if (periodic[k]) {
      const Vector3 v = rest_of(basis.rows[k]);
      known.push_back(scaled(v, 1 / length_of(v)));
    }
  }
  for (int k = 0; k < 3; ++k) {
    if (!periodic[k]) {
      Vector3 best{};
      for (int axis = 0; axis < 3; ++axis) {
        Vector3 e{};
        e[axis] = 1;
        const Vector3 v = rest_of(e);
        best = dot_of(v, v) > dot_of(best, best) ? v : best;
      }
      best = rest_of(best);  // once more: exact to rounding
      basis.rows[k] = scaled(best, 1 / length_of(best));
      known.push_back(basis.rows[k]);
    }
  }
}

}  // namespace

double dot_of(const Vector3& a, const Vector3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
double length_of(const Vector3& a) {
  return std::sqrt(dot_of(a, a));
}

LatticeFault reduced_basis(const double* cell, const std::array<bool, 3>& periodic, LatticeBasis& basis) {
  basis = {};
  double product = 1;
  for (int k = 0; k < 3; ++k) {
    basis.given[k][k] = 1;
    if (periodic[k]) {
      basis.rows[k] = {cell[3 * k], cell[3 * k + 1], cell[3 * k + 2]};
      const double length = length_of(basis.rows[k]);
      if (!std::isfinite(length)) {
        return LatticeFault::not_finite;
      }
      if (!(length > 0)) {
        return LatticeFault::singular;
      }
      product *= length;
    }
  }
  // Vectors that lie on one line or plane leave nothing to complete: asked first, of the given ones.
  LatticeBasis given = basis;
  complete(given, periodic);
  const double found = std::abs(dot_of(given.rows[0], cross_of(given.rows[1], given.rows[2])));
  if (!(found > singular * product)) {
    return LatticeFault::singular;
  }
  if (!reduce(basis, periodic)) {
    return LatticeFault::singular;
  }
  complete(basis, periodic);
  for (int k = 0; k < 3; ++k) {
    const Vector3 normal = cross_of(basis.rows[(k + 1) % 3], basis.rows[(k + 2) % 3]);
    basis.duals[k] = scaled(normal, 1 / dot_of(normal, basis.rows[k]));
  }
  return LatticeFault::none;
}

}  // namespace weyl::kernels
