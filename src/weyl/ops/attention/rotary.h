#pragma once

#include <ATen/core/Tensor.h>

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

}  // namespace weyl
