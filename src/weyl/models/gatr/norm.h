#pragma once

#include "weyl/models/gatr/linear.h"

namespace weyl::gatr {

/// The norm before each branch of a block, without parameters: multivectors by the root of the mean over channels of
/// <x, x>, at least 0.1 (ops/multivectors/norm.h), scalars by a layer norm.
Streams normalised(const Streams& x);

}  // namespace weyl::gatr
