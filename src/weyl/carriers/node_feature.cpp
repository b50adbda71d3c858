#include "weyl/carriers/node_feature.h"

#include <ATen/TensorOperators.h>

#include "weyl/carriers/layout.h"

namespace weyl {

Tensor node_feature(const Points& points, const Interface& interface, std::string_view name) {
  for (const Columns& c : scalar_columns(interface, Level::node)) {
    if (c.quantity->name == name) {
      return points.scalars.slice(1, c.begin, c.end);
    }
  }
  return {};
}

Tensor real_nodes(const Points& points, const Interface& interface) {
  const Tensor real = node_feature(points, interface, "real");
  return real.defined() ? real.select(1, 0) > 0 : Tensor();
}

}  // namespace weyl
