#include "weyl/models/lie/relations.h"

namespace weyl {
namespace {

constexpr int64_t many_pairs = 1 << 17;  // with more, their numbers cost more than making them in each layer

}  // namespace

Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 bool streaming, at::ScalarType dtype) {
  Relations relations{group, chart, elements.to(dtype), {}};
  if (!streaming || graphs.pairs() <= many_pairs) {
    relations.pairs = lie_pairs(elements, graphs, group, chart);
    relations.pairs->coordinates = relations.pairs->coordinates.to(dtype);
    relations.pairs->squares = relations.pairs->squares.to(dtype);
  }
  return relations;
}

}  // namespace weyl
