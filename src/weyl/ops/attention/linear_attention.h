#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// Linear attention (a dynamic convolution; Platonic Transformer, eq. 17):
///   y_i = q_i^T M_g,   M_g = sum_{j in g} k_j v_j^T / norm_g,   g the graph of i.
///
/// Shapes: q, k (N, H, K), v (N, H, V), norm (B) or undefined (1) -> (N, H, V). A graph without nodes
/// contributes nothing; on CPUs a result never depends on the other graphs or the threads. Time and memory are of the order
/// of the rows, however long one graph is. Any floating dtype, any device, differentiable to any order. ShapeError unless
/// shapes and dtypes agree.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        const Tensor& norm = {});

}  // namespace weyl
