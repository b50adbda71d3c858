#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Normal densities of numbers u (N), of means m and widths s > 0 (K) -> (N, K):
///   b_k = exp(-((u - m_k) / s_k)^2 / 2) / (sqrt(2 pi) s_k), exactly 0 beyond 11 widths (exp_or_zero).
/// Differentiable to any order; kernels to the second. ShapeError unless shapes and dtypes agree.
Tensor gaussian_densities(const Tensor& u, const Tensor& means, const Tensor& widths);

}  // namespace weyl
