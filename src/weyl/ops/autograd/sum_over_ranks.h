#pragma once

#include <memory>

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// The sum of x over all ranks: the same bits on each. Its gradient is the sum of theirs, so that a loss is
/// differentiated of which each rank has a term. All ranks must call and differentiate it in the same order.
Tensor sum_over_ranks(const Tensor& x, std::shared_ptr<Ranks> ranks);

}  // namespace weyl
