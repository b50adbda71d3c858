#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/ops/multivectors/options.h"

namespace weyl {

using at::Tensor;

/// The gated nonlinearity of multivectors, y_i = x_i g(x_0): each by an activation of its own scalar component.
/// x (16, N, C) -> (16, N, C). Differentiable to any order that the activation has (relu: as torch, 0 at 0).
Tensor gate_multivectors(const Tensor& x, MultivectorGate gate = MultivectorGate::gelu);

}  // namespace weyl
