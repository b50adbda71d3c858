#include "weyl/carriers/points.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linalg_det.h>
#include <ATen/ops/zeros.h>

#include "weyl/carriers/layout.h"

namespace weyl {
namespace {

/// `rows` of as many numbers, or rows of `size` numbers, as the columns have; nothing for no columns.
std::optional<std::vector<int64_t>> rows_of_columns(int64_t rows, const std::vector<Columns>& columns,
                                                    int64_t size = 0) {
  if (columns.empty()) {
    return {};
  }
  std::vector<int64_t> shape{rows, columns.back().end};
  if (size > 0) {
    shape.push_back(size);
  }
  return shape;
}

}  // namespace

Tensor same_of(const PointsTensor& wanted, const Points& points) {
  Tensor found;
  each_tensor(points, [&](const PointsTensor& of, const Tensor& tensor) {
    if (of.holds == wanted.holds && of.level == wanted.level && of.name == wanted.name) {
      found = tensor;
    }
  });
  return found;
}

std::optional<std::vector<int64_t>> shape_of(const PointsTensor& tensor, const Points& points,
                                             const Interface& interface) {
  using Holds = PointsTensor::Holds;
  const int64_t nodes = points.nodes(), graphs = points.count(), D = interface.dimension;
  switch (tensor.holds) {
    case Holds::positions:
      return std::vector{nodes, D};
    case Holds::types:
      return interface.types > 0 ? std::optional(std::vector{nodes}) : std::nullopt;
    case Holds::scalars:
      return rows_of_columns(nodes, scalar_columns(interface, Level::node));
    case Holds::vectors:
      return rows_of_columns(nodes, vector_columns(interface, Level::node), D);
    case Holds::multivectors:
      return rows_of_columns(nodes, multivector_columns(interface, Level::node),
                             components(Kind::multivector, D));
    case Holds::pairs:
      return rows_of_columns(points.graphs.pairs(), scalar_columns(interface, Level::pair));
    case Holds::cell:
      return std::vector{graphs, D, D};
    case Holds::pbc:
      return std::vector{graphs, D};
    case Holds::input:
      break;
  }
  const Quantity* q = find_quantity(interface.features, tensor.name);
  if (q == nullptr || q->level != tensor.level) {
    return {};
  }
  return shape_of(*q, rows_of(points, q->level), D);
}

Tensor cell_volumes(const Points& points) {
  if (!points.cell.defined()) {
    return at::zeros({points.count()}, points.positions.options().dtype(at::kDouble));
  }
  const Tensor volume = at::linalg_det(points.cell.to(at::kDouble)).abs();
  return points.pbc.defined() ? volume * points.pbc.all(1).to(at::kDouble) : volume;
}

}  // namespace weyl
