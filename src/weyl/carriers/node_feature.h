#pragma once

#include <string_view>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

/// A scalar feature of nodes by its name, (N, c); undefined: the data have none.
Tensor node_feature(const Points& points, const Interface& interface, std::string_view name);

/// Which nodes are atoms and no images of them, those whose feature `real` is above 0, (N) bool; undefined: the data do
/// not tell, and all are.
Tensor real_nodes(const Points& points, const Interface& interface);

}  // namespace weyl
