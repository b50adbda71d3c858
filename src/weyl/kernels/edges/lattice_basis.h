#pragma once

#include <array>
#include <cstdint>

namespace weyl::kernels {

using Vector3 = std::array<double, 3>;
using Shift3 = std::array<int64_t, 3>;

double dot_of(const Vector3& a, const Vector3& b);
double length_of(const Vector3& a);

/// A basis of space for a lattice that is periodic along some axes: along those its shortest vectors, or
/// nearly, and along the others unit vectors, normal to them and to one another.
struct LatticeBasis {
  std::array<Vector3, 3> rows{};
  std::array<Vector3, 3> duals{};  // rows[k] . duals[l] = 1 if k = l, else 0
  std::array<Shift3, 3> given{};   // rows[k] = given[k] . cell, of periodic axes
};

enum class LatticeFault { none, not_finite, singular };

/// The same lattice as that of cell (3, 3), rows are its vectors; rows along axes that are not periodic are
/// not read, and cell may be null without periodic axes. Singular: vectors that are linearly dependent, to
/// 1e-10 of their lengths.
LatticeFault reduced_basis(const double* cell, const std::array<bool, 3>& periodic, LatticeBasis& basis);

}  // namespace weyl::kernels
