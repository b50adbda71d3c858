// The geometry of one token and a tile of others. Included by kernel files alone (see simd.h).
#pragma once

#include <cstdint>

#include "weyl/algebra/lie/chart_policy.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/kernels/lie/pairs.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {

/// Planes of `tile` numbers: coordinates (dof) orthonormal, rounded to T, squares (blocks), open: 0, or minus infinity
/// where nothing may be attended to, exact (dof): the coordinates before they were rounded, null: not wanted.
template <class T>
struct PairTile {
  T* coordinates;
  double *squares, *open, *exact;
};

/// Computed in double whatever T (see LieAttentionInput).
template <class T>
struct LieTiles {
  /// Pairs (i, j) .. (i, j + count - 1), count <= tile; g.count: the end of the graph. Written up to a whole
  /// vector, closed beyond `count` and at i itself. Returns how many others are outside the chart of the
  /// logarithm.
  int64_t (*fill)(const LieElements<double>& g, ChartPolicy policy, int64_t i, int64_t j, int64_t count,
                  const PairTile<T>& to);

  /// Given gradients gw (dof planes of `tile`) by the orthonormal logarithms: ga (dof, g.stride) += the one by
  /// e of g_i exp(e), gb (dof, g.stride) += those by e of g_j exp(e).
  void (*pull)(const LieElements<double>& g, int64_t i, int64_t j, int64_t count, const T* gw, double* ga,
               double* gb);
};

namespace WEYL_ISA::lie {

inline constexpr int64_t tile = 64;  // whole vectors of either precision

/// The tiles' functions of the instruction set that the including file is compiled for.
template <class T>
inline const LieTiles<T>& tiles() {
  return compiled<LieTiles<T>, InstructionSet::WEYL_ISA>();
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
