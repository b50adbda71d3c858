// The Lie groups and their dimensions. This header has enums and constants alone: files that are compiled once for each
// instruction set (kernels/simd/simd.h) include it, and nothing of the standard library may run there.
#pragma once

#include "weyl/core/instruction_set.h"

namespace weyl {

/// The Lie groups whose elements can be tokens.
enum class LieGroup { so2, se2, so3, se3, aff2, aff3 };

/// n, the dimension of the space whose points the group moves.
constexpr int dimension_of(LieGroup g) {
  return g == LieGroup::so2 || g == LieGroup::se2 || g == LieGroup::aff2 ? 2 : 3;
}

/// m, the size of the (m, m) matrices of the elements: n for SO(n), n + 1 (homogeneous) otherwise.
constexpr int matrix_size(LieGroup g) {
  return dimension_of(g) + (g == LieGroup::so2 || g == LieGroup::so3 ? 0 : 1);
}

/// The dimension of the Lie algebra.
constexpr int degrees_of_freedom(LieGroup g) {
  constexpr int table[] = {1, 3, 3, 6, 6, 12};
  return table[static_cast<int>(g)];
}

/// How many numbers an element has in compact storage: so2 (c, s); se2 (x, y, c, s); so3 a quaternion (x, y, z, w);
/// se3 (t, q); aff2 and aff3 (A row-major, t).
constexpr int compact_size(LieGroup g) {
  constexpr int table[] = {2, 4, 4, 7, 6, 12};
  return table[static_cast<int>(g)];
}

/// Whether the group is SO(n) or SE(n). Their logarithm is defined but for half-turns, where its norm still is.
constexpr bool is_rigid(LieGroup g) {
  return g != LieGroup::aff2 && g != LieGroup::aff3;
}

/// How many irreducible parts the Lie algebra has under O(n).
constexpr int block_count(LieGroup g) {
  constexpr int table[] = {1, 2, 1, 2, 4, 4};
  return table[static_cast<int>(g)];
}

enum class LiePart { translation, rotation, scale, traceless_symmetric };

/// One irreducible part of a Lie algebra: the coordinates [begin, begin + size).
struct LieBlock {
  LiePart part;
  int begin, size;
};

}  // namespace weyl

namespace weyl::kernels {

// Blocks and norms of the Lie algebras as arrays, in the namespace of the instruction set that this is compiled for.

namespace WEYL_ISA::lie {

/// The blocks of each algebra, in the order of its coordinates: translation, rotation, scale, traceless
/// symmetric.
inline constexpr LieBlock so2_blocks[] = {{LiePart::rotation, 0, 1}};
inline constexpr LieBlock se2_blocks[] = {{LiePart::translation, 0, 2}, {LiePart::rotation, 2, 1}};
inline constexpr LieBlock so3_blocks[] = {{LiePart::rotation, 0, 3}};
inline constexpr LieBlock se3_blocks[] = {{LiePart::translation, 0, 3}, {LiePart::rotation, 3, 3}};
inline constexpr LieBlock aff2_blocks[] = {{LiePart::translation, 0, 2},
                                           {LiePart::rotation, 2, 1},
                                           {LiePart::scale, 3, 1},
                                           {LiePart::traceless_symmetric, 4, 2}};
inline constexpr LieBlock aff3_blocks[] = {{LiePart::translation, 0, 3},
                                           {LiePart::rotation, 3, 3},
                                           {LiePart::scale, 6, 1},
                                           {LiePart::traceless_symmetric, 7, 5}};
inline constexpr const LieBlock* block_tables[] = {so2_blocks, se2_blocks,  so3_blocks,
                                                   se3_blocks, aff2_blocks, aff3_blocks};

/// The Frobenius norm of each coordinate's generator.
inline constexpr double r2 = 1.41421356237309504880, r3 = 1.73205080756887729353, r6 = r2 * r3;
inline constexpr double so2_norms[] = {r2};
inline constexpr double se2_norms[] = {1, 1, r2};
inline constexpr double so3_norms[] = {r2, r2, r2};
inline constexpr double se3_norms[] = {1, 1, 1, r2, r2, r2};
inline constexpr double aff2_norms[] = {1, 1, r2, r2, r2, r2};
inline constexpr double aff3_norms[] = {1, 1, 1, r2, r2, r2, r3, r2, r2, r2, r2, r6};
inline constexpr const double* norm_tables[] = {so2_norms, se2_norms,  so3_norms,
                                                se3_norms, aff2_norms, aff3_norms};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
