#pragma once

#include <memory>

#include "weyl/ops/steerable/plan.h"

namespace weyl::steerable {

/// Steerable convolution of stride 1 (Kernel), without its expanded kernel: filters first, channels
/// after (Plan). x (B, 2 F_in, pixels...), weights (n, 2) as Kernel has them; `same`: zeros
/// around, so that odd kernels keep the size. Equal to the convolution with the expanded kernel but for
/// rounding, which it is on devices without kernels and for second derivatives.
Tensor conv(const Tensor& x, const Tensor& weights, const std::shared_ptr<const Kernel>& kernel, bool same);

/// True where it is the faster order: stride and dilation 1 are given, x on the CPU. By the multiplications
/// of either, at the rates measured for them; `expanded`: the dense kernel is at hand, not to be made.
bool conv_pays(const Tensor& x, const Kernel& kernel, bool same, bool expanded);

}  // namespace weyl::steerable
