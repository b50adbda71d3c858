#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Multivectors (16, N, M) and scalars (N, S) of the same tokens. Without scalars undefined.
struct MultivectorsAndScalars {
  Tensor multivectors, scalars;
};

// What the heads of multivector_attention (attention.h) see of tokens, for attention over other groups of tokens than
// it has: ragged_attention (ops/attention) of these. Of H heads with C channels and S scalars each: multivectors
// (16, N, C H), channel c of head h at c H + h, scalars (N, S H) likewise. Differentiable to any order, at least
// float32 also under autocast. ShapeError unless `heads` divides the channels.

/// (N, H, 12 C + S): components 0, 2, 3, 4, 8, 9, 10, then of the trivector u = t v / (v^2 + epsilon), v its e123,
/// exp(log_weights) (|u|^2, u_3^2, u_0 u_3, u_1 u_3, u_2 u_3), |u|^2 of the first three, then the scalars.
/// log_weights (H, C) or (H, 1, C).
Tensor multivector_queries(const MultivectorsAndScalars& q, const Tensor& log_weights, int64_t heads,
                           double epsilon = 1e-3);
/// The same with (-u_3^2, -|u|^2, 2 u_0 u_3, 2 u_1 u_3, 2 u_2 u_3).
Tensor multivector_keys(const MultivectorsAndScalars& k, int64_t heads, double epsilon = 1e-3);
/// (N, H, 16 C + S).
Tensor multivector_values(const MultivectorsAndScalars& v, int64_t heads);
/// What heads have found, (N, H, 16 C + S) -> multivectors (16, N, H C), channel c of head h at h C + c, and scalars
/// (N, H S).
MultivectorsAndScalars of_multivector_heads(const Tensor& y, int64_t channels);

}  // namespace weyl
