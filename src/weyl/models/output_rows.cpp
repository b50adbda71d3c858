#include "weyl/models/output_rows.h"

#include "weyl/core/check.h"

namespace weyl {

Tensor output_rows(const Tensor& of_nodes, const Quantity& output, const Points& points, Pooling law,
                   double typical_nodes) {
  const bool objects = output.level == Level::object;
  const Segments& segments = objects ? points.objects : points.graphs;
  switch (output.level) {
    case Level::node:
      return of_nodes;
    case Level::object:
    case Level::graph:
      if (output.extensive && points.by_node) {
        return of_nodes;
      }
      return output.extensive ? sum_nodes(of_nodes, segments)
                              : pool_nodes(of_nodes, segments, objects ? Pooling::mean : law, typical_nodes);
    case Level::pair:
      break;
  }
  throw ShapeError(text("output '", output.name, "': must not be of pairs, which no model of points gives"));
}

}  // namespace weyl
