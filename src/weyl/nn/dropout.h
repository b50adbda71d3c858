#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

/// What dropout multiplies by: numbers (sizes) that are zero with probability `rate`, else 1 / (1 - rate). Draws from torch's
/// generator; undefined when rate is 0.
at::Tensor dropout_noise(at::IntArrayRef sizes, double rate, const at::TensorOptions& options);

}  // namespace weyl
