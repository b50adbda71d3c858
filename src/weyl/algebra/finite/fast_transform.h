#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace weyl
