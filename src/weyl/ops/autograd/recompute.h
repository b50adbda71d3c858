#pragma once

#include <functional>

#include "weyl/ops/autograd/differentiable.h"

namespace weyl {

/// f(inputs), of which the graph keeps the inputs alone (gradient checkpointing; Chen et al., 2016): the backward pass works
/// f out a second time, with the same draws of torch's generator, the same autocast and the same ops, and differentiates
/// that. So what f keeps for its derivatives is there for one call at a time. Differentiable to any order; where a
/// backward pass is itself differentiated, nothing is saved.
///
/// `weights`: the parameters that f reads beside its inputs and that shall have gradients. What f owns it must share: it
/// is called again after the caller has gone. Undefined inputs are passed through.
Tensor recomputed(std::function<Tensor(const Tensors&)> f, const Tensors& inputs, const Tensors& weights);

}  // namespace weyl
