#pragma once

#include <array>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>

namespace weyl {

/// The Lie groups whose elements can be tokens.
enum class LieGroup { so2, se2, so3, se3, aff2, aff3 };
inline constexpr std::string_view lie_group_names[] = {"so2", "se2", "so3", "se3", "aff2", "aff3"};

inline constexpr std::string_view name_of(LieGroup group) {
  return lie_group_names[static_cast<int>(group)];
}

/// An irreducible part of a Lie algebra under O(n): the coordinates [begin, begin + size).
struct LieBlock {
  std::string_view name;
  int begin, size;
};

namespace lie_tables {
inline constexpr LieBlock so2[] = {{"rotation", 0, 1}};
inline constexpr LieBlock se2[] = {{"translation", 0, 2}, {"rotation", 2, 1}};
inline constexpr LieBlock so3[] = {{"rotation", 0, 3}};
inline constexpr LieBlock se3[] = {{"translation", 0, 3}, {"rotation", 3, 3}};
inline constexpr LieBlock aff2[] = {
    {"translation", 0, 2}, {"rotation", 2, 1}, {"scale", 3, 1}, {"traceless symmetric", 4, 2}};
inline constexpr LieBlock aff3[] = {
    {"translation", 0, 3}, {"rotation", 3, 3}, {"scale", 6, 1}, {"traceless symmetric", 7, 5}};

/// The Frobenius norm of each coordinate's generator.
inline constexpr double r2 = std::numbers::sqrt2, r3 = std::numbers::sqrt3, r6 = r2 * r3;
inline constexpr double so2_norms[] = {r2};
inline constexpr double se2_norms[] = {1, 1, r2};
inline constexpr double so3_norms[] = {r2, r2, r2};
inline constexpr double se3_norms[] = {1, 1, 1, r2, r2, r2};
inline constexpr double aff2_norms[] = {1, 1, r2, r2, r2, r2};
inline constexpr double aff3_norms[] = {1, 1, 1, r2, r2, r2, r3, r2, r2, r2, r2, r6};
}  // namespace lie_tables

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

/// The blocks of the algebra, in the order of its coordinates: translation, rotation, scale, traceless
/// symmetric.
constexpr std::span<const LieBlock> blocks_of(LieGroup g) {
  switch (g) {
    case LieGroup::so2:
      return lie_tables::so2;
    case LieGroup::se2:
      return lie_tables::se2;
    case LieGroup::so3:
      return lie_tables::so3;
    case LieGroup::se3:
      return lie_tables::se3;
    case LieGroup::aff2:
      return lie_tables::aff2;
    case LieGroup::aff3:
      return lie_tables::aff3;
  }
  return {};
}

/// For each coordinate: orthonormal coordinate = physical coordinate * this. The orthonormal ones are those of
/// the Frobenius norm: their squares sum to the squared norm of the (homogeneous) matrix.
constexpr std::span<const double> orthonormal_scales(LieGroup g) {
  switch (g) {
    case LieGroup::so2:
      return lie_tables::so2_norms;
    case LieGroup::se2:
      return lie_tables::se2_norms;
    case LieGroup::so3:
      return lie_tables::so3_norms;
    case LieGroup::se3:
      return lie_tables::se3_norms;
    case LieGroup::aff2:
      return lie_tables::aff2_norms;
    case LieGroup::aff3:
      return lie_tables::aff3_norms;
  }
  return {};
}

}  // namespace weyl
