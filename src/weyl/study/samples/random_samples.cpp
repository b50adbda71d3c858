#include "weyl/study/samples/random_samples.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/matmul.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "weyl/carriers/layout.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/core/random_tensor.h"

namespace weyl {
namespace {

Batch random_poses(const Interface& interface, int64_t graphs, int64_t nodes, uint64_t seed) {
  const LieGroup group = *interface.group;
  Poses poses;
  poses.group = group;
  poses.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, nodes));
  Stream first(seed, "random tokens: first poses"), others(seed, "random tokens: poses");
  Tensor e = normal_tensor({graphs * nodes, degrees_of_freedom(group)}, others);
  const bool translates = blocks_of(group).front().part == LiePart::translation;
  e.slice(1, translates ? blocks_of(group).front().size : 0, e.size(1)).mul_(0.2);
  const Tensor start = at::index_select(random_elements(group, graphs, 3, first), 0, poses.graphs.index);
  poses.elements = at::matmul(start, exponentials(group, e));
  const auto columns = scalar_columns(interface, Level::node);
  if (!columns.empty()) {
    Stream stream(seed, "random tokens: features");
    poses.scalars = normal_tensor({graphs * nodes, columns.back().end}, stream);
  }
  return {std::move(poses), {}};
}

Tensor random_types(int64_t nodes, int64_t types, Stream& stream) {
  Tensor result = at::empty({nodes}, at::kLong);
  for (int64_t i = 0; i < nodes; ++i) {
    result.mutable_data_ptr<int64_t>()[i] = stream.below(types);
  }
  return result;
}

/// Makes the vectors (N, V, D) that are normals of planes unit vectors.
void normalise_normals(const Tensor& vectors, const Interface& interface) {
  for (const Columns& columns : vector_columns(interface, Level::node)) {
    if (columns.quantity->role == Role::normal) {
      const Tensor normals = vectors.narrow(1, columns.begin, columns.end - columns.begin);
      normals.div_(normals.square().sum(-1, true).sqrt());
    }
  }
}

/// The nodes of each graph in objects of three, the last smaller: one at least is of several nodes.
Segments objects_of(int64_t graphs, int64_t nodes) {
  std::vector<int64_t> sizes;
  for (int64_t g = 0; g < graphs; ++g) {
    for (int64_t left = nodes; left > 0; left -= 3) {
      sizes.push_back(std::min<int64_t>(left, 3));
    }
  }
  return Segments::of_sizes(sizes);
}

bool has_objects(const Schema& schema) {
  const auto of_object = [](const Quantity& q) { return q.level == Level::object; };
  return std::ranges::any_of(schema.interface.features, of_object) ||
         std::ranges::any_of(schema.labels, of_object);
}

}  // namespace

Batch random_tokens(const Schema& schema, int64_t graphs, int64_t nodes, uint64_t seed) {
  require<ConfigError>(
      schema.carrier() != Carrier::grid,
      "random tokens: the carrier must be points or poses, got grid (of which random_grids makes samples)");
  require<ConfigError>(graphs > 0 && nodes > 0, "random tokens: graphs and nodes must be positive, got ",
                       graphs, " and ", nodes);
  const Interface& interface = schema.interface;
  if (schema.carrier() == Carrier::poses) {
    return random_poses(interface, graphs, nodes, seed);
  }
  Points points;
  points.graphs = Segments::of_sizes(std::vector<int64_t>(graphs, nodes));
  if (has_objects(schema)) {
    points.objects = objects_of(graphs, nodes);
  }
  Stream places(seed, "random tokens: positions"), types(seed, "random tokens: types"),
      features(seed, "random tokens: features");
  each_tensor(points, [&](const PointsTensor& of, Tensor& tensor) {
    using Holds = PointsTensor::Holds;
    const auto shape = shape_of(of, points, interface);
    if (!shape) {
      return;
    }
    switch (of.holds) {
      case Holds::positions:
        tensor = normal_tensor(*shape, places);
        break;
      case Holds::types:
        tensor = random_types(shape->front(), interface.types, types);
        break;
      case Holds::scalars:
      case Holds::multivectors:
      case Holds::pairs:
        tensor = normal_tensor(*shape, features);
        break;
      case Holds::vectors:
        tensor = normal_tensor(*shape, features);
        normalise_normals(tensor, interface);
        break;
      case Holds::cell:  // random tokens are not periodic
      case Holds::pbc:
      case Holds::input:  // none is there yet
        break;
    }
  });
  for (const Quantity& q : interface.features) {
    const bool scalar = q.kind == Kind::scalar || q.kind == Kind::pseudoscalar;
    const bool vector = q.kind == Kind::vector || q.kind == Kind::axial_vector;
    const bool multivector = q.kind == Kind::multivector;
    const bool type = q.level == Level::node && q.kind == Kind::category;
    if (type || (q.level == Level::node && (scalar || vector || multivector)) ||
        (q.level == Level::pair && scalar)) {
      continue;
    }
    require<ConfigError>(
        q.level != Level::pair && q.level != Level::node && (scalar || vector || multivector),
        "random tokens: a ", kind_names[static_cast<size_t>(q.kind)], " at ",
        level_names[static_cast<size_t>(q.level)], " level cannot be drawn: feature '", q.name, "'");
    Named& of = q.level == Level::graph ? points.of_graphs : points.of_objects;
    of[q.name] = normal_tensor(shape_of(q, rows_of(points, q.level), interface.dimension), features);
  }
  return {std::move(points), {}};
}

Batch random_grids(const Schema& schema, int64_t count, std::span<const int64_t> shape, uint64_t seed) {
  const int64_t D = schema.interface.dimension;
  const auto axes = static_cast<int64_t>(shape.size());
  require<ConfigError>(schema.carrier() == Carrier::grid, "random grids: the carrier must be grid, got ",
                       name_of(schema.carrier()));
  require<ConfigError>(axes == 1 || axes == D,
                       "random grids: the shape must be one number, or one for each of the ", D,
                       " axes, got ", axes);
  int64_t channels = 0;
  for (const Quantity& q : schema.interface.features) {
    channels += q.channels * components(q.kind, D);
  }
  std::vector<int64_t> sizes{count, channels};
  for (int64_t a = 0; a < D; ++a) {
    sizes.push_back(shape[axes == 1 ? 0 : a]);
    require<ConfigError>(sizes.back() > 0, "random grids: the shape must be positive, got ", sizes.back());
  }
  require<ConfigError>(count > 0, "random grids: there must be at least one, got ", count);
  Stream stream(seed, "random tokens: cells");
  return {Grid{normal_tensor(sizes, stream)}, {}};
}

namespace {

constexpr double volume_of_atom = 10, least_distance = 0.9;  // Angstrom^3, Angstrom

/// Writes the places of one molecule (nodes, 3), uniform in a ball, drawn again where too near to another.
void place_atoms(double* x, int64_t nodes, Stream& stream) {
  const double radius = std::cbrt(volume_of_atom * static_cast<double>(nodes) * 3 / (4 * std::numbers::pi));
  for (int64_t i = 0; i < nodes;) {
    double* own = x + 3 * i;
    double square = 0;
    for (int64_t a = 0; a < 3; ++a) {
      own[a] = radius * (2 * stream.uniform() - 1);
      square += own[a] * own[a];
    }
    bool free = square < radius * radius;
    for (int64_t j = 0; j < i && free; ++j) {
      const double* other = x + 3 * j;
      const double apart = std::hypot(own[0] - other[0], own[1] - other[1], own[2] - other[2]);
      free = apart >= least_distance;
    }
    i += free ? 1 : 0;
  }
}

/// The types of organic molecules; none where the schema does not name its elements.
std::vector<int64_t> organic_types(const Interface& interface) {
  std::vector<int64_t> found;
  for (const std::string_view symbol : {"H", "C", "N", "O"}) {
    const auto at = std::find(interface.elements.begin(), interface.elements.end(), symbol);
    if (at != interface.elements.end()) {
      found.push_back(at - interface.elements.begin());
    }
  }
  return found;
}

}  // namespace

bool learns_a_potential(const Task& task, const Schema& schema) {
  const std::vector<Quantity> labels = task.labels();
  return schema.carrier() == Carrier::points && schema.interface.dimension == 3 && !labels.empty() &&
         std::ranges::all_of(labels, [](const Quantity& q) {
           return q.name == "energy" || q.name == "forces" || q.name == "stress";
         });
}

std::shared_ptr<const Dataset> random_molecules(Schema schema, int64_t graphs, int64_t nodes, uint64_t seed) {
  require<ConfigError>(schema.carrier() == Carrier::points && schema.interface.dimension == 3,
                       "random molecules: must be points in three dimensions, got ",
                       name_of(schema.carrier()), " in ", schema.interface.dimension);
  Batch batch = random_tokens(schema, graphs, nodes, seed);
  auto& points = std::get<Points>(batch.input);
  Stream places(seed, "random molecules: positions");
  for (int64_t g = 0; g < graphs; ++g) {
    place_atoms(points.positions.data_ptr<double>() + 3 * nodes * g, nodes, places);
  }
  Stream types(seed, "random molecules: types");
  const std::vector<int64_t> organic = organic_types(schema.interface);
  for (int64_t i = 0; i < points.nodes() && !organic.empty(); ++i) {
    points.types.data_ptr<int64_t>()[i] = organic[types.below(static_cast<int64_t>(organic.size()))];
  }
  Stream labels(seed, "random molecules: labels");
  schema.labels = {{.name = "energy", .level = Level::graph, .extensive = true},
                   {.name = "forces", .kind = Kind::vector}};
  batch.labels = {{"energy", normal_tensor({graphs, 1}, labels)},
                  {"forces", normal_tensor({points.nodes(), 1, 3}, labels)}};
  return std::make_shared<InMemory>(std::move(batch), std::move(schema));
}

}  // namespace weyl
