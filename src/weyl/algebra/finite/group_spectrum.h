#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/algebra/finite/fast_transform.h"
#include "weyl/algebra/finite/group_table.h"
#include "weyl/algebra/finite/real_characters.h"

namespace weyl {

/// A real irreducible representation of a finite group by orthogonal d x d matrices, rho(g h) = rho(g) rho(h). It occurs
/// m = d / delta times among functions on the group, delta = 1, 2, 4 by type.
struct RealIrrep {
  IrrepType type = IrrepType::real;
  int64_t dimension = 1;          // d
  int64_t multiplicity = 1;       // m
  int64_t offset = 0;             // of its m d columns of Q
  std::vector<double> character;  // (G) traces
  std::vector<double> matrices;   // (G, d, d)
  /// u_i (m, d): orthonormal, and orthogonal to all that maps which commute with rho make of the others. For the type real
  /// these are the basis vectors.
  std::vector<double> rows;

  std::span<const double> matrix(int64_t g) const {
    return {matrices.data() + g * dimension * dimension, static_cast<size_t>(dimension * dimension)};
  }
};

/// The Fourier analysis of real functions on a finite group (Platonic Transformers, appendix N). Made from the table of
/// products alone, in numbers of 32 digits that are rounded once: the same table gives the same bits everywhere. Irreps
/// stand in the order of `real_characters`, the trivial one first; their bases are adapted to `subgroup_chain`.
class GroupSpectrum {
 public:
  /// ConfigError beyond GroupTable::most_elements. I_h (120) takes about 50 ms.
  explicit GroupSpectrum(GroupTable table);

  const GroupTable& table() const { return table_; }
  int64_t order() const { return table_.order(); }
  const std::vector<RealIrrep>& irreps() const { return irreps_; }

  /// Q (G, G), row-major, row g and column c = offset + i d + l of an irrep: sqrt(d/G) u_i^T rho(g) e_l. Orthogonal.
  /// A function x on the group becomes x^ = Q^T x; of one irrep that is a matrix (m, d), the rows u_i^T X of
  /// X = sqrt(d/G) sum_g x(g) rho(g). When x moves by the left regular representation, x'(g) = x(h^-1 g), then X' = rho(h) X.
  std::span<const double> transform() const { return transform_; }
  /// The same by stages.
  const FastTransform& fast() const { return fast_; }

 private:
  GroupTable table_;
  std::vector<RealIrrep> irreps_;
  std::vector<double> transform_;
  FastTransform fast_;
};

}  // namespace weyl
