#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "weyl/algebra/finite/lifted_spectrum.h"
#include "weyl/ops/frames/group_tables.h"

namespace weyl {

/// Channels of features, side by side, that every frame g sees in its own way: scalars, or vectors u as R_g^T u; `odd`:
/// times det R_g.
struct LiftedChannels {
  bool vectors = false, odd = false;
  int64_t channels = 0;
};

/// Linear maps of lifted features by irreps. A lifted scalar is zero but in the trivial irrep, a vector but in those of
/// which the group's own matrices are made, and what it has there is of few terms k (LiftedFactors): in the plane x_r
/// (m N, d C) of group_fourier.h, row (i, n) and column (l, (v, a)),
///   x_r = sum_k (sum_b onto[k, i, b] u[n, v, b]) along[k, l, a].
/// So the sums in parentheses, z_r (m N, K V) of columns (k, v), take the place of x_r, and W'_r (d O, K V), the columns of
/// the block W_r summed with `along`, that of W_r: x_r W_r^T = z_r W'_r^T. K is mostly 1, so that a vector of T, O or I takes
/// 9 times fewer products. Thread-safe.
class LiftedFourier {
 public:
  /// `runs`: of what the channels are in their order, scalars before vectors.
  LiftedFourier(const GroupTables& tables, const std::vector<LiftedChannels>& runs);

  /// Whether this holds to rounding. Matrices that are themselves rounded are no representation, and vectors are a little
  /// of other irreps too, which would be left out.
  bool exact() const { return exact_; }

  /// z_r of scalars (N, S) and vectors (N, V, D), undefined where there are none; undefined of irreps without any.
  std::vector<Tensor> planes(const Tensor& scalars, const Tensor& vectors) const;
  /// W'_r of a kernel (G, O, S + V D), undefined likewise.
  std::vector<Tensor> blocks(const Tensor& kernel) const;

  /// Of a token: the products with blocks for so many output channels.
  int64_t multiply_adds(int64_t out) const;
  /// Of a token: the planes.
  int64_t plane_multiply_adds() const;

 private:
  struct Run {
    Run(const LiftedChannels& channels, const LiftedSpectrum& lifted, const GroupSpectrum& spectrum);
    Run(const LiftedChannels& channels, int64_t components, std::vector<LiftedFactors> factors,
        const GroupSpectrum& spectrum);
    LiftedChannels of;
    int64_t components;  // n: D of vectors, 1 of scalars
    std::vector<LiftedFactors> factors;
    TableCopies onto;   // (n, sum of K m): to all irreps
    TableCopies along;  // (sum of d K, G n): from a kernel to the blocks of all
  };

  std::shared_ptr<const FourierTables> fourier_;
  std::deque<Run> runs_;  // which never move
  bool exact_ = true;
};

}  // namespace weyl
