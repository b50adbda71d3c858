#pragma once

#include "weyl/models/gatr/linear.h"
#include "weyl/ops/multivectors/options.h"

namespace weyl::gatr {

/// Each multivector times an activation of its own scalar part (gelu by the tanh formula), each scalar's activation
/// (gelu by erf, as the authors have it).
Streams gated(const Streams& x, MultivectorGate activation);

}  // namespace weyl::gatr
