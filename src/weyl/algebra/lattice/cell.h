#pragma once

#include <array>
#include <cstdint>

#include "weyl/algebra/lattice/vector3.h"

namespace weyl {

/// Three rows: the vectors of a lattice that repeats along some of them, its periodic axes. Rows along the other axes
/// mean nothing and may be zero.
using CellRows = std::array<Vector3, 3>;
/// Multiples of the vectors of a lattice.
using Shift3 = std::array<int64_t, 3>;

/// Of nine numbers, row after row.
CellRows rows_of(const double* cell);

/// a1 x a2, a2 x a0, a0 x a1: divided by the volume they are the rows of the inverse's transpose.
CellRows cofactors(const CellRows& a);

/// a0 . (a1 x a2): negative where the rows are left-handed.
double volume_of(const CellRows& a);

/// duals[k] . a[l] = 1 if k = l, else 0: a place x is dual[k] . x cells away from the origin along axis k, and planes of the
/// lattice are 1 / |duals[k]| apart. Each row is divided by the volume as its own product gives it.
CellRows duals_of(const CellRows& a);

/// `a` with the rows along axes that are not periodic replaced by unit vectors, normal to the periodic ones and to one
/// another. Not numbers where periodic rows are linearly dependent.
CellRows completed(const CellRows& a, const std::array<bool, 3>& periodic);

/// A step from one atom to another, moved by lattice vectors to the nearest image of the other: the shortest there is,
/// but in the corners of a slanted cell, where one a little shorter may be left. Steps stay as they are in a cell
/// without volume.
Vector3 nearest_image(Vector3 step, const CellRows& a, const std::array<bool, 3>& periodic);

/// A basis of space for a lattice that is periodic along some axes: along those its shortest vectors, or
/// nearly, and along the others unit vectors, normal to them and to one another.
struct LatticeBasis {
  CellRows rows{};
  CellRows duals{};               // rows[k] . duals[l] = 1 if k = l, else 0
  std::array<Shift3, 3> given{};  // rows[k] = given[k] . cell, of periodic axes
};

enum class LatticeFault { none, not_finite, singular };

/// The same lattice as that of cell (3, 3), rows are its vectors; rows along axes that are not periodic are
/// not read, and cell may be null without periodic axes. Singular: vectors that are linearly dependent, to
/// 1e-10 of their lengths.
LatticeFault reduced_basis(const double* cell, const std::array<bool, 3>& periodic, LatticeBasis& basis);

}  // namespace weyl
