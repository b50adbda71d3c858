#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// The exact GELU of a matrix product and its bias in one pass: y = g(x + b), g(t) = t (1 + erf(t / sqrt 2))
/// / 2. x (N, G C); bias (C), shared by the G frames, or undefined -> (N, G C). Differentiable to any order.
/// ShapeError unless C divides the width and the dtypes agree.
Tensor bias_gelu(const Tensor& x, const Tensor& bias);

}  // namespace weyl
