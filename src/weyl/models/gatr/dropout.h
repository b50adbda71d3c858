#pragma once

#include "weyl/models/gatr/linear.h"

namespace weyl::gatr {

/// Dropout that commutes with Pin(3,0,1): of each node and channel every one of the five grades is zeroed as one with
/// probability `rate`, of the scalars each number; what is left is scaled by 1 / (1 - rate). Draws from torch's
/// generator; x itself where the rate is 0.
Streams drop_grades(const Streams& x, double rate);

}  // namespace weyl::gatr
