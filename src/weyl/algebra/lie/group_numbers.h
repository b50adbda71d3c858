// The Lie groups and the numbers of each. Enums and constants alone: files compiled once for each instruction set
// (kernels/simd/simd.h) include this, where nothing of the standard library may run.
#pragma once

namespace weyl {

/// The Lie groups whose elements can be tokens.
enum class LieGroup { so2, se2, so3, se3, aff2, aff3 };

/// n: the group moves points of n-dimensional space.
constexpr int dimension_of(LieGroup g) {
  return g == LieGroup::so2 || g == LieGroup::se2 || g == LieGroup::aff2 ? 2 : 3;
}

/// m of the (m, m) matrices that are its elements: n for SO(n), n + 1 (homogeneous) otherwise.
constexpr int matrix_size(LieGroup g) {
  return dimension_of(g) + (g == LieGroup::so2 || g == LieGroup::so3 ? 0 : 1);
}

/// Coordinates of its Lie algebra.
constexpr int degrees_of_freedom(LieGroup g) {
  constexpr int table[] = {1, 3, 3, 6, 6, 12};
  return table[static_cast<int>(g)];
}

/// Numbers of an element in compact storage: so2 (c, s); se2 (x, y, c, s); so3 quaternion (x, y, z, w); se3
/// (t, q); aff2 and aff3 (A row-major, t).
constexpr int compact_size(LieGroup g) {
  constexpr int table[] = {2, 4, 4, 7, 6, 12};
  return table[static_cast<int>(g)];
}

/// SO(n) and SE(n): the logarithm is defined but for half-turns, where its norm still is.
constexpr bool is_rigid(LieGroup g) {
  return g != LieGroup::aff2 && g != LieGroup::aff3;
}

/// Irreducible parts of its Lie algebra under O(n).
constexpr int block_count(LieGroup g) {
  constexpr int table[] = {1, 2, 1, 2, 4, 4};
  return table[static_cast<int>(g)];
}

enum class LiePart { translation, rotation, scale, traceless_symmetric };

/// One of those parts: the coordinates [begin, begin + size).
struct LieBlock {
  LiePart part;
  int begin, size;
};

}  // namespace weyl
