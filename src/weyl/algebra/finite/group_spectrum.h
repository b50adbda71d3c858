#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/algebra/finite/group_table.h"
#include "weyl/algebra/finite/real_characters.h"

namespace weyl {

/// A sparse square matrix by rows: row r holds coefficients[i] in columns[i], starts[r] <= i < starts[r + 1].
struct SparseStage {
  int64_t size = 0;
  std::vector<int64_t> starts, columns;
  std::vector<double> coefficients;
};

/// The transform Q^T of functions on a group (group_spectrum.h) by a chain of subgroups: y = x[gather], then for each stage
/// every run of `size` numbers times the stage's matrix, then a factor for each result. Coefficients are sums of products of
/// irreps' entries: most are 0 or +-1 on the groups of space.
struct FastTransform {
  std::vector<int64_t> gather;  // (G) which element's value stands in a place
  std::vector<SparseStage>
      stages;  // sizes are orders of subgroups, each a multiple of the one before; the last is G
  std::vector<double> factors;  // (G)

  /// y (G, channels) = Q^T x, x (G, channels); not in place.
  void forward(std::span<const double> x, std::span<double> y, int64_t channels) const;
  /// x = Q y.
  void inverse(std::span<const double> y, std::span<double> x, int64_t channels) const;

  /// Multiply-adds for one channel: coefficients that are not zero, and the factors. Without stages Q^T has G^2.
  int64_t multiply_adds() const;
  /// Those of them that multiply: coefficients other than +-1, and the factors.
  int64_t multiplications() const;
};

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

// The linear maps that commute with left translation, y(h) = sum_g kernel[g^-1 h] x(g), x (G, I), y (G, O), kernel
// (G, O, I), by irreps (Platonic Transformers, appendix N). With x^ = Q^T x and y^ = Q^T y the columns of one irrep,
// m runs of d, are matrices x^_r (m, d I) and y^_r (m, d O), channels innermost, and
//
//   y^_r = x^_r W_r^T,   W_r[(j, o), (l, c)] = sum_a rho(a)_lj kernel[a, o, c]
//
// one matrix product each. For the paper's eq. 8, kernel[h^-1 g], rho(a)_jl stands in place of rho(a)_lj. The map from
// kernel to blocks is orthogonal up to a factor of each irrep, so its transpose, which gradients take, also inverts it.

/// W_r (d O, d I) of a kernel. ShapeError unless sizes fit.
void spectral_block(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                    std::span<const double> kernel, std::span<double> block);

/// Adds factor sum_lj rho(a)_lj block[(j, o), (l, c)] to kernel[a, o, c]. With factor 1 that is the gradient by the kernel
/// of what has the gradient `block` by W_r; with `spatial_factor` the sum over all irreps is the kernel of the blocks W_r.
void add_to_kernel(const GroupSpectrum& spectrum, const RealIrrep& irrep, int64_t out, int64_t in,
                   double factor, std::span<const double> block, std::span<double> kernel);

/// d / (delta G).
double spatial_factor(const GroupSpectrum& spectrum, const RealIrrep& irrep);

/// Of a token, without the transforms: I O sum_r m d^2. The dense matrix has G^2 I O.
int64_t spectral_multiply_adds(const GroupSpectrum& spectrum, int64_t out, int64_t in);

}  // namespace weyl
