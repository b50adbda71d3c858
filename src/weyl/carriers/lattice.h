#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

/// Whether two spacings are equal to within a thousandth: headers round them or hold them in 32 bits. Every comparison
/// of spacings uses this function.
inline bool same_spacing(double a, double b) {
  return std::abs(a - b) <= 1e-3 * std::max(std::abs(a), std::abs(b));
}
inline bool same_spacing(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return same_spacing(a[0], b[0]) && same_spacing(a[1], b[1]) && same_spacing(a[2], b[2]);
}

/// Whether neighbours are equally far along all axes (none: they are), as a net's turns need that are of space.
inline bool is_isotropic(std::span<const double> spacing) {
  return spacing.empty() || same_spacing(std::ranges::min(spacing), std::ranges::max(spacing));
}

/// What the grids of one batch have in common: the number of cells along each axis and their distances.
struct Lattice {
  std::vector<int64_t> cells;
  std::array<double, 3> spacing{1, 1, 1};

  bool alike(const Lattice& other) const {
    return cells == other.cells && same_spacing(spacing, other.spacing);
  }
};

}  // namespace weyl
