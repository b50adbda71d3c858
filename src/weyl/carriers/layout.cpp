#include "weyl/carriers/layout.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>

#include "weyl/core/check.h"

namespace weyl {
namespace {

/// Rows of what belongs to graphs, their nodes or pairs of these.
int64_t rows_of_graphs(const Segments& graphs, Level level) {
  switch (level) {
    case Level::node:
      return graphs.rows();
    case Level::pair:
      return graphs.pairs();
    case Level::graph:
    case Level::object:  // which only points have
      break;
  }
  return graphs.count();
}

/// The graph of every row, when graph g has `count(g)` rows.
template <class Count>
Tensor repeated(int64_t graphs, int64_t rows, at::Device device, Count count) {
  Tensor index = at::empty({rows}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  for (int64_t g = 0; g < graphs; ++g) {
    row = std::fill_n(row, count(g), g);
  }
  return index.to(device);
}

at::Device device_of(const Input& input) {
  if (const auto* points = std::get_if<Points>(&input)) {
    return points->positions.device();
  }
  if (const auto* poses = std::get_if<Poses>(&input)) {
    return poses->elements.device();
  }
  return std::get<Grid>(input).values.device();
}

/// `belongs(kind, D)` says which features stand in the tensor.
template <class Belongs>
std::vector<Columns> columns(const Interface& interface, Level level, Belongs belongs) {
  std::vector<Columns> result;
  int64_t begin = 0;
  for (const auto& q : interface.features) {
    if (q.level == level && belongs(q.kind, interface.dimension)) {
      result.push_back({&q, begin, begin + q.channels});
      begin += q.channels;
    }
  }
  return result;
}

}  // namespace

const Segments& graphs_of(const Input& input) {
  if (const auto* points = std::get_if<Points>(&input)) {
    return points->graphs;
  }
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, "graphs: a grid has none");
  return poses->graphs;
}

int64_t rows_of(const Input& input, Level level) {
  if (const auto* grid = std::get_if<Grid>(&input)) {
    require(level == Level::node || level == Level::graph,
            "grid: quantities are of node or graph level, got ", level_names[static_cast<int>(level)]);
    return grid->count();
  }
  if (const auto* points = std::get_if<Points>(&input)) {
    return rows_of(*points, level);
  }
  require(level != Level::object, "poses: there is no object level");
  return rows_of_graphs(graphs_of(input), level);
}

int64_t rows_of(const Points& points, Level level) {
  return level == Level::object ? points.objects.count() : rows_of_graphs(points.graphs, level);
}

Tensor graph_of_rows(const Input& input, Level level) {
  const auto device = device_of(input);
  if (std::holds_alternative<Grid>(input) || level == Level::graph) {
    return at::arange(rows_of(input, level), at::TensorOptions(at::kLong).device(device));
  }
  const auto& graphs = graphs_of(input);
  switch (level) {
    case Level::node:
      return graphs.index;
    case Level::pair:
      return repeated(graphs.count(), graphs.pairs(), device,
                      [&](int64_t g) { return graphs.size(g) * graphs.size(g); });
    case Level::object:
    case Level::graph:  // above
      break;
  }
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "poses: there is no object level");
  const auto& objects = points->objects;
  Tensor index = at::empty({objects.count()}, at::kLong);
  auto* row = index.mutable_data_ptr<int64_t>();
  for (int64_t o = 0, g = 0; o < objects.count(); ++o) {
    while (graphs.offsets[g + 1] <= objects.offsets[o]) {
      ++g;
    }
    row[o] = g;
  }
  return index.to(device);
}

int64_t dimension_of(const Input& input) {
  if (const auto* points = std::get_if<Points>(&input)) {
    return points->dimension();
  }
  if (const auto* poses = std::get_if<Poses>(&input)) {
    return dimension_of(poses->group);
  }
  return std::get<Grid>(input).values.dim() - 2;
}

std::vector<int64_t> shape_of(const Quantity& q, int64_t rows, int64_t dimension) {
  switch (q.kind) {
    case Kind::scalar:
    case Kind::pseudoscalar:
    case Kind::category:
      return {rows, q.channels};
    case Kind::vector:
      return {rows, q.channels, dimension};
    case Kind::axial_vector:
      return dimension == 2 ? std::vector{rows, q.channels} : std::vector{rows, q.channels, dimension};
    case Kind::symmetric_tensor:
      return {rows, q.channels, dimension, dimension};
    case Kind::multivector:
      require(dimension == 3, q.name, ": a multivector needs three dimensions, got ", dimension);
      return {rows, q.channels, components(q.kind, dimension)};
    case Kind::element:
      break;
  }
  throw ShapeError(q.name + ": elements of a Lie group need an input of poses");
}

std::vector<int64_t> shape_of(const Quantity& q, const Input& input) {
  const int64_t rows = rows_of(input, q.level);
  const int64_t dimension = dimension_of(input);
  if (const auto* grid = std::get_if<Grid>(&input); grid && q.level == Level::node) {
    std::vector<int64_t> shape{rows, q.channels * components(q.kind, dimension)};
    const auto spatial = grid->values.sizes().slice(2);
    shape.insert(shape.end(), spatial.begin(), spatial.end());
    return shape;
  }
  if (q.kind != Kind::element) {
    return shape_of(q, rows, dimension);
  }
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, q.name, ": elements of a Lie group need an input of poses");
  require(q.channels == 1, q.name, ": elements have one channel, got ", q.channels);
  const int64_t m = matrix_size(poses->group);
  return {rows, m, m};
}

std::vector<Columns> scalar_columns(const Interface& interface, Level level) {
  return columns(interface, level, is_number);
}

std::vector<Columns> vector_columns(const Interface& interface, Level level) {
  return columns(interface, level, is_vector);
}

std::vector<Columns> multivector_columns(const Interface& interface, Level level) {
  return columns(interface, level, [](Kind kind, int64_t) { return kind == Kind::multivector; });
}

}  // namespace weyl
