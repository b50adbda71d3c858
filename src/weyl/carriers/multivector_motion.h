#pragma once

#include <array>

#include "weyl/core/segments.h"

namespace weyl {

/// How multivectors move under maps x -> L x + t of space, one a graph, in float64: the blocks of the grades 1, 2, 3
/// and 4 of the matrices (16, 16) of algebra/clifford/motion_matrix.h. For an orthogonal L that is the sandwich of the
/// motion's versor; for any invertible one normals of planes move by L^-T and further grades as their outer products.
class MultivectorMotions {
 public:
  /// `linear` (B, 3, 3), `translation` (B, 3) or undefined, float64; kept on the device of `linear`. ShapeError for
  /// other sizes.
  MultivectorMotions(const Tensor& linear, const Tensor& translation);

  /// x (L, c, 16) moved, in its own dtype; row i by motion `of_rows[i]`, (L) int64, or, where that is undefined, by
  /// motion i.
  Tensor moved(const Tensor& x, const Tensor& of_rows) const;

 private:
  std::array<Tensor, 4> blocks_;  // (B, 4, 4), (B, 6, 6), (B, 4, 4), (B, 1, 1)
};

/// Where the trivectors of multivectors are, times their weights e123, (-e023, e013, -e012) along a new last axis; `axis` of x
/// holds the 16 components. A point p of weight 1 gives p (algebra/clifford/embeddings.h).
Tensor weighted_places(const Tensor& x, int64_t axis);

/// x (L, c, 16) moved by x -> x + t, `by` (L, 3), in float64. Components without e0 stay as they are, to the bit, and
/// those with e0 change by a sum that is linear in t: moved there and back, they are what they were but for rounding.
Tensor translated_multivectors(const Tensor& x, const Tensor& by);

}  // namespace weyl
