#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/algebra/finite/double_double.h"
#include "weyl/algebra/finite/group_table.h"
#include "weyl/algebra/finite/real_characters.h"

namespace weyl {

/// An irrep by orthogonal d x d matrices rho(g), in numbers of 32 digits.
struct AdaptedIrrep {
  RealCharacter character;
  std::vector<DoubleDouble> matrices;  // (G, d, d)
  /// m = d / delta orthonormal vectors u_i which, with their images under what commutes with the irrep, are a basis:
  /// functions u_i^T rho(g) e_l on the group are orthogonal, and span what the irrep's entries span.
  std::vector<DoubleDouble> rows;  // (m, d)
  int64_t multiplicity() const { return character.dimension / commutant_dimension(character.type); }
};

/// The irreps of the group with one element.
std::vector<AdaptedIrrep> trivial_irreps();

/// The irreps of a group, in the order of `real_characters`, in a basis that is adapted to a proper subgroup H, given by
/// its elements (ascending) and its irreps in their order: on H every irrep is block diagonal, with the matrices of
/// H's irreps in H's order. The basis depends on the table of products alone. Costs O(G^2 sum_irreps d).
std::vector<AdaptedIrrep> adapted_irreps(const GroupTable& group, std::span<const int64_t> subgroup,
                                         const std::vector<AdaptedIrrep>& below);

}  // namespace weyl
