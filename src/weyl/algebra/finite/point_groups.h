#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "weyl/algebra/finite/finite_group.h"

namespace weyl {

/// (cos, sin) of 2 pi k / n, exact where they are 0, 1/2 or 1, and exactly symmetric: the values of k and n -
/// k agree, and so do those mirrored in an axis or a diagonal. n >= 1, any k.
std::pair<double, double> turn(int64_t k, int64_t n);

/// C_n: element k turns by 2 pi k / n, [[cos, -sin], [sin, cos]]. n >= 1.
FiniteGroup cyclic(int64_t n);

/// D_n, order 2n: the n rotations of `cyclic`, then element n + k = Rot_k diag(1, -1).
FiniteGroup dihedral(int64_t n);

/// {1, flip of one coordinate}: which = 1 flips y, which = 2 flips x (the authors' numbering).
FiniteGroup flop_2d(int64_t which);

/// The identity alone, in `dimension` dimensions.
FiniteGroup trivial(int64_t dimension);

// Point groups of space. Element orders are those of the authors' code, because stored weights depend on
// them. Matrices are exact: entries are 0, 1, 1/2, phi/2, 1/(2 phi) and their negatives, rounded once.

/// T, rotations of the tetrahedron (12): the identity, three half-turns about the axes, eight thirds of a
/// turn.
FiniteGroup tetrahedron();
/// T_d (24): T, then element 12 + t = s T[t], s the exchange of x and y (a reflection).
FiniteGroup tetrahedron_full();
/// O, rotations of the cube (24): T, then element 12 + t = T[t] Rz(+90 degrees).
FiniteGroup octahedron();
/// O_h, the full symmetry of the cube (48): O, then element 24 + i = -O[i].
FiniteGroup octahedron_full();
/// I, rotations of the icosahedron (60): element 5 t + k = T[t] c^k, c the turn by 72 degrees about (phi, 1,
/// 0).
FiniteGroup icosahedron();
/// I_h, the full symmetry of the icosahedron (120): I, then element 60 + i = -I[i].
FiniteGroup icosahedron_full();
/// C2 x C2 x C2 (8): diag(x, y, z), x slowest, each from -1 to +1. The identity has index 7.
FiniteGroup octahedron_reflections();
/// {1, flip of coordinate `which`}, which = 1 (x), 2 (y), 3 (z).
FiniteGroup flop_3d(int64_t which);

/// C_n about an axis (any vector of finite length above zero): element k turns by 2 pi k / n, right-handed.
FiniteGroup cyclic_3d(int64_t n, std::array<double, 3> axis = {0, 0, 1});
/// The rotations of a regular n-gon in space, order 2n: those of `cyclic_3d`, then element n + k = Rot_k U, U
/// the half-turn about the axis' normal nearest to a coordinate axis (the first of x, y, z on which the axis
/// has its smallest component in size; x for the z axis).
FiniteGroup dihedral_3d(int64_t n, std::array<double, 3> axis = {0, 0, 1});

}  // namespace weyl
