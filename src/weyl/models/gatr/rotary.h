#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/core/segments.h"

namespace weyl::gatr {

/// Cosine and sine of the angles n base^(-2 f / S) of the n-th node: (N, S/2, 1).
struct OrderAngles {
  Tensor cosine, sine;
};

/// number (N): n of each node, any dtype. S is even. The angles are made in float64; at least float32 comes out.
OrderAngles order_angles(const Tensor& number, int64_t scalars, double base, at::ScalarType dtype);

/// Rotates x (N, S H), channel s of head h at s H + h: its channels f and f + S/2 by the f-th angle, as the authors'
/// rotary encoding does.
Tensor rotated(const Tensor& x, int64_t heads, const OrderAngles& angles);

}  // namespace weyl::gatr
