#pragma once

#include "weyl/ops/edges/nearest.h"

namespace weyl {

/// Softmax attention of each node to listed ones:
///   y_i = sum_j a_ij v_j,  a_ij = softmax_j(scale q_i . k_j),  j over the neighbours of i in `edges`.
///
/// q (N, H, K), k (N, H or 1, K), v (N, H or 1, V) -> (N, H, V); zeros for a node without edges. With all pairs of each graph it is
/// ragged_attention (attention.h). Time and memory grow with the nodes and their edges; differentiable to any order, on any
/// device; the edges are no function of the inputs here. Inputs below float32 count as float32. ShapeError unless shapes and
/// dtypes agree.
Tensor local_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Edges& edges, double scale);

/// The same of each node to those near it. q, k, v and the result are in the order of the nodes.
Tensor local_attention(const Tensor& q, const Tensor& k, const Tensor& v, const NearestNodes& near,
                       double scale);

}  // namespace weyl
