#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// Hierarchical attention ("Does equivariance matter at scale?", section 4): of H heads the first H / 2 attend inside
/// each node's own object, the others inside its whole graph:
///   y_i^h = sum_j softmax_j(scale q_i^h . k_j^h) v_j^h,  j over the object of i for h < H / 2, over its graph else.
///
/// Shapes as in ragged_attention: q (N, H, K), k (N, H or 1, K), v (N, H or 1, V) -> (N, H, V); or rows in P parts,
/// (N, P, H, K). `objects` are nested in `graphs` and hold all nodes. Computed as two ragged attentions, block by block:
/// there is no mask, and an object costs the square of its own nodes. Differentiable to any order. ShapeError: an odd
/// number of heads, objects that do not hold all nodes, and as ragged_attention says.
Tensor hierarchical_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                              const Segments& objects, double scale);

}  // namespace weyl
