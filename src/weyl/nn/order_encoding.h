#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/core/segments.h"

namespace weyl {

/// The number (N) of each row in its segment, from 0 on, int64.
Tensor numbers_in(const Segments& segments);

/// Cosine and sine of the angles n base^(-2 f / C) of the n-th row: (N, C/2).
struct OrderAngles {
  Tensor cosine, sine;
};

/// number (N): n of each row, any dtype. `channels` C is even. The angles are made in float64; at least float32 comes out.
OrderAngles order_angles(const Tensor& number, int64_t channels, double base, at::ScalarType dtype);

/// Rotates the C channels on axis 1 or 2 of x (N, C, H) or (N, H, C): channels f and f + C/2 by the f-th angle, as the rotary
/// encoding of the public GATr and of its baseline does.
Tensor turned_by_order(const Tensor& x, int64_t axis, const OrderAngles& angles);

}  // namespace weyl
