#pragma once

#include <string_view>

#include "weyl/core/segments.h"

namespace weyl {

/// The Lie groups whose elements can be tokens.
enum class LieGroup { so2, se2, so3, se3, aff2, aff3 };
constexpr std::string_view lie_group_names[] = {"so2", "se2", "so3", "se3", "aff2", "aff3"};

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
