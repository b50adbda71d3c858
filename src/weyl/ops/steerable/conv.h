#pragma once

#include <memory>

#include "weyl/ops/steerable/plan.h"

namespace weyl {

/// Steerable convolution of stride 1 (SteerableKernel), without its expanded kernel: filters first, channels
/// after (SteerablePlan). x (B, 2 F_in, pixels...), weights (n, 2) as SteerableKernel has them; `same`: zeros
/// around, so that odd kernels keep the size. Equal to the convolution with the expanded kernel but for
/// rounding, which it is on devices without kernels and for second derivatives.
Tensor steerable_conv(const Tensor& x, const Tensor& weights,
                      const std::shared_ptr<const SteerableKernel>& kernel, bool same);

/// True where it is the faster order: stride and dilation 1 are given, x on the CPU. By the multiplications
/// of either, at the rates measured for them; `expanded`: the dense kernel is at hand, not to be made.
bool steerable_conv_pays(const Tensor& x, const SteerableKernel& kernel, bool same, bool expanded);

}  // namespace weyl
