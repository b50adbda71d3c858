// The largest eigenvalue's eigenvector of a small symmetric matrix, in numbers of 32 digits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/algebra/finite/double_double.h"
#include "weyl/algebra/finite/group_table.h"
#include "weyl/algebra/finite/real_characters.h"

namespace weyl {

/// Of length one, of either sign, by Jacobi's rotations; matrix (n, n), its eigenvalues distinct.
std::vector<DoubleDouble> top_eigenvector(int64_t n, std::vector<DoubleDouble> matrix);

/// Elements sum_g f(g) g of the real group algebra, as functions f on the group, (G).
using Combination = std::vector<DoubleDouble>;

/// sum_g f(g) x g, the left translate: (x f)(g) = f(x^-1 g).
Combination translated(const GroupTable& group, int64_t x, const Combination& f);
/// sum_i weights[i] elements[i] f, elements by their indices.
Combination product(const GroupTable& group, std::span<const int64_t> elements,
                    std::span<const DoubleDouble> weights, const Combination& f);
Combination product(const GroupTable& group, const Combination& a, const Combination& b);

DoubleDouble dot(const Combination& a, const Combination& b);
void scale(DoubleDouble factor, Combination& f);
/// f less its part along a vector of length one.
void remove_along(const Combination& unit, Combination& f);

/// Of a symmetric idempotent e and an element x the largest idempotent e' with e e' = e' on which e (x + x^-1) e is a number
/// and that number is as large as possible. It is e where e (x + x^-1) e is a number already.
Combination top_idempotent(const GroupTable& group, const Combination& idempotent, int64_t x);

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
