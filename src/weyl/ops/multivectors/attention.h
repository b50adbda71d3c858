#pragma once

#include "weyl/core/segments.h"
#include "weyl/ops/multivectors/features.h"

namespace weyl {

/// Attention of Geometric Algebra Transformers (eq. 7 and 8, as the authors' code has them): softmax attention inside
/// each graph with, for a query i and a key j of C multivector channels and S scalars a head, the logit
///   1/sqrt(12 C + S) [ sum_c sum_(b in 0,2,3,4,8,9,10) q_cb k_cb  +  sum_c w_hc D_c  +  sum_s q_s k_s ],
///   D_c = -|t_3 s - s_3 t|^2,  t and s the trivectors of q_c and k_c, each times v / (v^2 + epsilon), v its e123,
/// which for points is minus their squared distance; w = exp(log_weights). Values are all 16 components and scalars.
///
/// q of H heads: multivectors (16, N, C H), channel c of head h at c H + h, scalars (N, S H) likewise, as the authors
/// lay them out; k and v of H heads, or of one that all queries share (multi-query): (16, N, C), (N, S).
/// log_weights (H, C) or (H, 1, C). -> multivectors (16, N, H C), channel c of head h at h C + c, and scalars (N, H S).
/// Memory grows with N, never with its square. Distances are in at least float32, also under autocast; they are sums
/// of squares that cancel, so that far from the origin digits are lost. Differentiable to any order. ShapeError unless
/// shapes agree.
MultivectorsAndScalars multivector_attention(const MultivectorsAndScalars& q, const MultivectorsAndScalars& k,
                                             const MultivectorsAndScalars& v, const Tensor& log_weights,
                                             const Segments& graphs, int64_t heads, double epsilon = 1e-3);

/// 1 / sqrt(12 C + S).
double multivector_attention_scale(int64_t channels, int64_t scalars);

}  // namespace weyl
