#include "weyl/algebra/lattice/cell.h"

#include <algorithm>
#include <cmath>

namespace weyl {
namespace {

constexpr double singular = 1e-10;          // volume relative to the product of the lengths
constexpr double most_multiples = 1 << 30;  // multiples of one vector in another

/// A unit vector normal to `a`, and to that axis of space which is furthest from it.
Vector3 perpendicular(const Vector3& a) {
  const auto least = std::ranges::min_element(a, {}, [](double x) { return std::abs(x); }) - a.begin();
  Vector3 axis{};
  axis[least] = 1;
  return unit(cross(a, axis));
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
        const double times = std::nearbyint(dot(a, b) / dot(b, b));
        if (!(std::abs(times) < most_multiples)) {
          return false;
        }
        const Vector3 shorter{a[0] - times * b[0], a[1] - times * b[1], a[2] - times * b[2]};
        if (times != 0 && dot(shorter, shorter) < dot(a, a) * (1 - 1e-12)) {
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

}  // namespace

CellRows rows_of(const double* cell) {
  return {Vector3{cell[0], cell[1], cell[2]}, Vector3{cell[3], cell[4], cell[5]},
          Vector3{cell[6], cell[7], cell[8]}};
}

CellRows cofactors(const CellRows& a) {
  return {cross(a[1], a[2]), cross(a[2], a[0]), cross(a[0], a[1])};
}

double volume_of(const CellRows& a) {
  return dot(a[0], cross(a[1], a[2]));
}

CellRows duals_of(const CellRows& a) {
  CellRows duals = cofactors(a);
  for (int k = 0; k < 3; ++k) {
    const double volume = dot(a[k], duals[k]);
    for (double& x : duals[k]) {
      x /= volume;
    }
  }
  return duals;
}

CellRows completed(const CellRows& a, const std::array<bool, 3>& periodic) {
  if (periodic == std::array<bool, 3>{}) {
    return {Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 1}};
  }
  CellRows rows = a;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    if (!periodic[i] && periodic[j] && periodic[k]) {
      rows[i] = unit(cross(rows[j], rows[k]));
    } else if (periodic[i] && !periodic[j] && !periodic[k]) {
      rows[j] = perpendicular(rows[i]);
      rows[k] = unit(cross(rows[i], rows[j]));
    }
  }
  return rows;
}

Vector3 nearest_image(Vector3 step, const CellRows& a, const std::array<bool, 3>& periodic) {
  const CellRows rows = completed(a, periodic), normals = cofactors(rows);
  for (int k = 0; k < 3; ++k) {
    const double volume = dot(normals[k], rows[k]);
    if (!periodic[k] || !(std::abs(volume) > 0)) {
      continue;
    }
    const double turns = std::round(dot(normals[k], step) / volume);
    for (int c = 0; c < 3; ++c) {
      step[c] -= turns * rows[k][c];
    }
  }
  return step;
}

LatticeFault reduced_basis(const double* cell, const std::array<bool, 3>& periodic, LatticeBasis& basis) {
  basis = {};
  double product = 1;
  for (int k = 0; k < 3; ++k) {
    basis.given[k][k] = 1;
    if (periodic[k]) {
      basis.rows[k] = {cell[3 * k], cell[3 * k + 1], cell[3 * k + 2]};
      const double square = dot(basis.rows[k], basis.rows[k]);
      if (!std::isfinite(square)) {
        return LatticeFault::not_finite;
      }
      if (!(square > 0)) {
        return LatticeFault::singular;
      }
      product *= std::sqrt(square);
    }
  }
  // Vectors that lie on one line or plane leave nothing to complete: asked first, of the given ones.
  if (!(std::abs(volume_of(completed(basis.rows, periodic))) > singular * product)) {
    return LatticeFault::singular;
  }
  if (!reduce(basis, periodic)) {
    return LatticeFault::singular;
  }
  basis.rows = completed(basis.rows, periodic);
  basis.duals = duals_of(basis.rows);
  return LatticeFault::none;
}

}  // namespace weyl
