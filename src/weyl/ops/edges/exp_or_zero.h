#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// exp(x), and exactly 0 where it is below 1e-28 (x < -64): what decays far enough is nothing, where exp
/// would go on through denormal numbers, with which a matrix product takes ten times as long. Differentiable
/// to any order; NaN stays NaN.
Tensor exp_or_zero(const Tensor& x);

}  // namespace weyl
