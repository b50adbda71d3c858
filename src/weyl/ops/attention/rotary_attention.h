#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/core/segments.h"

namespace weyl {

using at::Tensor;

/// Cosine and sine of the rotary angles, computed once a layer and used for q, k, v and the output.
struct RotaryTable {
  Tensor cosine, sine;  // (N, H, F)
};

/// angles (N, H, F), float32 or float64 (never less: half-precision angles ruin forces).
RotaryTable rotary_table(const Tensor& angles);

/// Rotates the interleaved pairs (x_2f, x_2f+1) of x (N, H, 2F) by the angles; `inverse` by their negatives.
/// An undefined x means all ones (constant keys): then dtype is the table's. Result (N, H, 2F) in x's dtype.
Tensor rotate_pairs(const Tensor& x, const RotaryTable& table, bool inverse = false);

/// Softmax attention with rotary positions, from one matrix product to the next, in one pass that writes
/// neither rotated queries nor keys (RoFormer; values rotated forth and back as in GTA, eq. 5):
///   q'_i = R_i q_i, k'_i = R_i k_i (all ones when there are no keys), v'_i = R_i v_i or v_i,
///   y_i = sum_j softmax_j(scale q'_i . k'_j) v'_j, with R_i^-1 before it when values are rotated,
/// in every graph and head by itself; R_i rotates the interleaved pairs (2f, 2f+1) by angles_if.
/// projections (N, P W): the columns of q, v and, when P = 3, k, each W = H K wide, H heads of width K;
/// bias (P, C), C dividing W, shared by the W/C frames, or undefined; angles (N, H, K/2), never below
/// float32, or undefined (no rotation; then P = 3) -> (N, W). Differentiable to any order, angles included.
Tensor rotary_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                        const Segments& graphs, int64_t heads, double scale, bool rotate_values);

/// The same with linear attention (linear_attention.h) in place of the softmax: y_i = q'_i^T M_g,
/// M_g = sum_j k'_j v'_j^T / norm_g. norm (B), without a gradient, or undefined.
Tensor rotary_linear_attention(const Tensor& projections, const Tensor& bias, const Tensor& angles,
                               const Segments& graphs, int64_t heads, const Tensor& norm, bool rotate_values);

}  // namespace weyl
