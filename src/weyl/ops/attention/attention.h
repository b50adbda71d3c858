#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// Softmax attention inside each graph, on ragged rows:
///   y_i = sum_j a_ij v_j,  a_ij = softmax_j(scale q_i . k_j + bias_ij),  j over the graph of i.
///
/// Shapes: q (N, H, K), k (N, H or 1, K), v (N, H or 1, V) -> (N, H, V); one shared key and value head is
/// multi-query attention. Or, where a head's row is of P parts that do not lie side by side (vectors, channel
/// by channel): q and k (N, P, H, K), v (N, P, H, V) -> (N, P, H, V), products summed over parts too. bias:
/// undefined or (pairs, H), rows in the order graph, query, key (`graphs.pairs()` of them). A graph without
/// nodes contributes nothing; a result never depends on the other graphs. Differentiable to any order (LibTorch's
/// fused CPU attention has no second derivative). On CPUs memory is of the order of the rows, however long a graph is, value
/// and derivatives alike; on CUDA devices value and first derivative likewise, without a bias and below float64, by
/// LibTorch's fused kernels (fused_attention.h). The torch expressions, which other devices, higher derivatives, float64 and
/// biases on a device use, hold a table of all pairs. Where some inputs are below float32, as autocast leaves them, and
/// others are not, all count as float32; on CPUs narrower ones are worked out in float32. ShapeError unless shapes and
/// dtypes agree.
Tensor ragged_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias = {});

/// The same with each weight a_ij dropped with probability `dropout`, by torch's generator, and the others divided by
/// 1 - dropout. q, k (N, H, K), v (N, H, V). As a torch expression: tensors of graphs x H x longest x longest numbers.
Tensor ragged_attention_with_dropout(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Segments& graphs, double scale, double dropout);

}  // namespace weyl
