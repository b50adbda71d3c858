#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "weyl/algebra/lie/group_numbers.h"

namespace weyl {

inline constexpr std::string_view lie_group_names[] = {"so2", "se2", "so3", "se3", "aff2", "aff3"};

inline constexpr std::string_view name_of(LieGroup group) {
  return lie_group_names[static_cast<int>(group)];
}

/// The blocks of the algebra, in the order of its coordinates: translation, rotation, scale, traceless
/// symmetric.
constexpr std::span<const LieBlock> blocks_of(LieGroup g) {
  return {kernels::WEYL_ISA::lie::block_tables[static_cast<int>(g)],
          static_cast<std::size_t>(block_count(g))};
}

/// The factor from physical to orthonormal coordinates, for each coordinate. The squares of orthonormal coordinates sum
/// to the squared Frobenius norm of the (homogeneous) matrix.
constexpr std::span<const double> orthonormal_scales(LieGroup g) {
  return {kernels::WEYL_ISA::lie::norm_tables[static_cast<int>(g)],
          static_cast<std::size_t>(degrees_of_freedom(g))};
}

}  // namespace weyl
