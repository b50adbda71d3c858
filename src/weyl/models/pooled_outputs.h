#pragma once

#include <algorithm>

#include "weyl/carriers/quantity.h"

namespace weyl {

/// Whether a model of this interface pools nodes: for outputs of graphs that do not grow with them (extensive ones are
/// summed). Null, an interface that is not known yet: it may.
inline bool pools_nodes(const Interface* interface) {
  return interface == nullptr || std::ranges::any_of(interface->outputs, [](const Quantity& q) {
           return q.level == Level::graph && !q.extensive;
         });
}

/// What keeps an option named `pooling` from being read otherwise (config/idle.h).
constexpr const char* without_pooling = "where every output is of nodes or extensive";

}  // namespace weyl
