#pragma once

#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/edges/edges.h"

namespace weyl::lie {

/// attention_over_pairs (ops/lie/attention.h) of listed pairs, all of them present: scores (P, H), coordinates (P, dof), values
/// (N, H, C) -> {mixed (N, H, C), coordinates (N, H, dof)}, zeros for a token without pairs. So many tokens are taken at a time
/// that what is made of their pairs stays in the cache, forward and backward, and nothing of the pairs is kept but their weights:
/// time and memory grow with the pairs. Differentiable to any order, on any device. It does not check its arguments again.
Tensors attention_over_neighbours(const Tensor& scores, const Tensor& coordinates, const Tensor& values,
                                  const Edges& list);

}  // namespace weyl::lie
