#pragma once

#include <array>
#include <span>

namespace weyl::clifford {

/// How multivectors move under the motion p -> R p + t of space: a matrix M (16, 16), row-major, y_i = sum_j of
/// M[16 i + j] x_j. R (3, 3) row-major, orthogonal with det R = 1 or -1, t (3). It is the sandwich of the motion's
/// versor, with the grade involution where det R = -1 (`sandwich`). So M commutes with the geometric and the outer
/// product, the reverse, the involution and the inner product, with the join up to the factor det R, with the dual up
/// to that factor and only where t = 0. Planes (n, d) become (R n, d - t . R n), further grades are outer products of
/// planes: an embedded point moves to det R times the embedded R p + t, e0123 by det R, an ideal line by R, a line
/// through a point like an axial vector there. No quaternion is taken on the way, so M is as exact as R.
/// ShapeError unless R is orthogonal to 1e-6.
std::array<double, 256> motion_matrix(std::span<const double, 9> rotation,
                                      std::span<const double, 3> translation);

/// The same for any invertible map p -> L p + t, `planes` (3, 3) = L^-T, by which normals of planes move: further grades
/// are outer products of planes all the same. For orthogonal L it is motion_matrix(L, t). It commutes with the outer
/// product alone; nothing is checked.
std::array<double, 256> affine_matrix(std::span<const double, 9> planes,
                                      std::span<const double, 3> translation);

}  // namespace weyl::clifford
