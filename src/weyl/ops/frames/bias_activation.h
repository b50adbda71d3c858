#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// An activation of a matrix product and its bias in one pass, y = g(x + b): x (N, G C); bias (C), shared by
/// the G frames, or undefined -> (N, G C). bias_gelu: the exact GELU, g(t) = t (1 + erf(t / sqrt 2)) / 2;
/// bias_silu: g(t) = t / (1 + exp(-t)). Differentiable to any order, one pass for each of the first two.
/// ShapeError unless C divides the width and the dtypes agree.
Tensor bias_gelu(const Tensor& x, const Tensor& bias);
Tensor bias_silu(const Tensor& x, const Tensor& bias);

}  // namespace weyl
