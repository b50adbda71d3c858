#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/segments.h"

namespace weyl {

/// Tokens that are group elements, in ragged graphs. `elements` (N, m, m) are matrices, m = n for SO(n),
/// n + 1 (homogeneous) otherwise.
struct Poses {
  LieGroup group = LieGroup::se3;
  Tensor elements;  // (N, m, m)
  Tensor scalars;   // (N, S)
  Segments graphs;

  int64_t nodes() const { return graphs.rows(); }
  int64_t count() const { return graphs.count(); }
};

}  // namespace weyl
