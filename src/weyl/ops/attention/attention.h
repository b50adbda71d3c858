#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// Softmax attention inside each graph, on ragged rows:
///   y_i = sum_j a_ij v_j,  a_ij = softmax_j(scale q_i . k_j + bias_ij),  j over the graph of i.
///
/// Shapes:
///   * q (N, H, K), k (N, H or 1, K), v (N, H or 1, V) -> (N, H, V). One shared key and value head is multi-query
///     attention.
///   * q, k (N, P, H, K), v (N, P, H, V) -> (N, P, H, V), where a head's row has P parts that do not lie side by side
///     (vectors, channel by channel). Products are summed over the parts too.
///   * bias undefined or (pairs, H), rows in the order graph, query, key (`graphs.pairs()` of them).
/// A graph without nodes contributes nothing. A result never depends on the other graphs.
///
/// Differentiable to any order (LibTorch's fused CPU attention has no second derivative). Memory is of the order of the
/// rows, however long a graph is,
///   * on CPUs, for the value, the first and the second derivative;
///   * on CUDA devices, for the value and the first derivative, without a bias and below float64 (LibTorch's fused
///     kernels, attention_forms.h).
/// Everything else uses torch expressions, which hold a table of all pairs.
///
/// When some inputs are below float32, as autocast leaves them, and others are not, all count as float32. On CPUs
/// narrower inputs are computed in float32. ShapeError unless shapes and dtypes agree.
Tensor ragged_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                        double scale, const Tensor& bias = {});

/// ragged_attention with dropout: each weight a_ij is dropped with probability `dropout`, by torch's generator, and the
/// others are divided by 1 - dropout. q, k (N, H, K), v (N, H, V). A torch expression, with tensors of graphs x H x
/// longest x longest numbers. ShapeError as of ragged_attention, and unless 0 <= dropout < 1.
Tensor ragged_attention_with_dropout(const Tensor& q, const Tensor& k, const Tensor& v,
                                     const Segments& graphs, double scale, double dropout);

/// Hierarchical attention ("Does equivariance matter at scale?", section 4). The first H / 2 of the H heads attend
/// inside each node's own object, the others inside its whole graph:
///   y_i^h = sum_j softmax_j(scale q_i^h . k_j^h) v_j^h,  j over the object of i for h < H / 2, over its graph else.
///
/// Shapes as of ragged_attention: q (N, H, K), k (N, H or 1, K), v (N, H or 1, V) -> (N, H, V); or rows in P parts, (N,
/// P, H, K). `objects` are nested in `graphs` and hold all nodes. The two halves are ragged attentions, without a mask:
/// an object costs the square of its own nodes. Differentiable to any order. ShapeError for an odd number of heads, for
/// objects that do not hold all nodes, and as of ragged_attention.
Tensor hierarchical_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                              const Segments& objects, double scale);

}  // namespace weyl
