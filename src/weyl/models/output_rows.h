#pragma once

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/nn/pooling.h"

namespace weyl {

/// The rows of an output (L, ...) from its values on nodes (N, ...): of node level as they are; of graphs pooled by
/// `law`; of objects the mean over the object's nodes, whatever the law, since objects have no typical size. An
/// extensive one is the sum over the nodes of its graph or object, in float64; `by_node`, what would be summed.
Tensor output_rows(const Tensor& of_nodes, const Quantity& output, const Points& points, Pooling law,
                   double typical_nodes);

}  // namespace weyl
