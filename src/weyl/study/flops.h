#pragma once

#include "weyl/models/model.h"

namespace weyl {

/// Floating-point operations a token, multiply-adds counting two, at `typical_nodes` tokens a graph.
struct FlopsPerToken {
  double forward = 0;
  double train =
      0;  // forward and backward: the backward pass of a product is two products, so three times forward
};

FlopsPerToken flops_per_token(const Model& model);

}  // namespace weyl
