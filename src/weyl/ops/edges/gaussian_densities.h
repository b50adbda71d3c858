#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// exp(x), and exactly 0 where it is below 1e-28 (x < -64): what decays far enough is nothing, where exp
/// would go on through denormal numbers, with which a matrix product takes ten times as long. Differentiable
/// to any order; NaN stays NaN.
Tensor exp_or_zero(const Tensor& x);

using at::Tensor;

/// Normal densities of numbers u (N), of means m and widths s > 0 (K) -> (N, K):
///   b_k = exp(-((u - m_k) / s_k)^2 / 2) / (sqrt(2 pi) s_k), exactly 0 beyond 11 widths (exp_or_zero).
/// Differentiable to any order; kernels to the second. ShapeError unless shapes and dtypes agree.
Tensor gaussian_densities(const Tensor& u, const Tensor& means, const Tensor& widths);

}  // namespace weyl
