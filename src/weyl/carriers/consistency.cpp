#include <ATen/TensorOperators.h>
#include <ATen/ops/all.h>

#include "weyl/carriers/layout.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string shape_text(at::IntArrayRef shape) {
  std::string result = "(";
  for (size_t i = 0; i < shape.size(); ++i) {
    result += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return result + ")";
}

void require_shape(const Tensor& tensor, at::IntArrayRef shape, const std::string& name) {
  require(tensor.defined(), name, ": must be ", shape_text(shape), ", absent");
  require(tensor.sizes() == shape, name, ": must be ", shape_text(shape), ", got ",
          shape_text(tensor.sizes()));
}

void require_floating(const Tensor& tensor, const std::string& name) {
  require(tensor.is_floating_point(), name, ": must be of a floating-point type, got ",
          c10::toString(tensor.scalar_type()));
}

/// A tensor of feature columns: (rows, columns, ...), or absent when there are no columns.
void require_columns(const Tensor& tensor, std::vector<int64_t> shape, const std::string& name) {
  if (shape[1] == 0) {
    require(!tensor.defined(), name, ": the schema declares none, got ",
            tensor.defined() ? tensor.size(1) : 0, " columns");
    return;
  }
  require_shape(tensor, shape, name);
  require_floating(tensor, name);
}

void require_named(const Named& named, const std::vector<Quantity>& all, Level level, bool any_level,
                   const Input& input, std::string_view where) {
  size_t expected = 0;
  for (const auto& q : all) {
    if (!any_level && q.level != level) {
      continue;
    }
    ++expected;
    const auto found = named.find(q.name);
    require(found != named.end(), where, ": '", q.name, "' is declared but absent");
    require_shape(found->second, shape_of(q, input), text(where, " '", q.name, "'"));
    if (q.kind == Kind::category) {
      require(found->second.scalar_type() == at::kLong, where, " '", q.name, "': must be int64, got ",
              c10::toString(found->second.scalar_type()));
    } else if (any_level) {
      require(found->second.scalar_type() == at::kDouble, where, " '", q.name, "': must be float64, got ",
              c10::toString(found->second.scalar_type()));
    } else {
      require_floating(found->second, text(where, " '", q.name, "'"));
    }
  }
  if (named.size() != expected) {
    for (const auto& [name, tensor] : named) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const Quantity& q) {
        return q.name == name && (any_level || q.level == level);
      });
      require(known, where, ": '", name, "' is not declared");
    }
  }
}

void require_objects(const Points& points) {
  const auto& objects = points.objects;
  if (objects.count() == 0) {
    return;
  }
  require(objects.rows() == points.nodes(), "objects: must hold all ", points.nodes(), " nodes, got ",
          objects.rows());
  size_t o = 0;
  for (int64_t s = 0; s < objects.count(); ++s) {
    require(objects.size(s) > 0, "objects: must not be empty, object ", s, " is");
  }
  for (const int64_t boundary : points.graphs.offsets) {
    while (o + 1 < objects.offsets.size() && objects.offsets[o] < boundary) {
      ++o;
    }
    require(objects.offsets[o] == boundary, "objects: must lie inside one graph, one spans node ", boundary);
  }
}

void require_features(const Interface& interface) {
  for (const auto& q : interface.features) {
    const bool columns = q.level == Level::node || q.level == Level::pair;
    const bool vector = q.kind == Kind::vector || (q.kind == Kind::axial_vector && interface.dimension != 2);
    const bool scalar =
        !vector && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar || q.kind == Kind::axial_vector);
    require(q.channels >= 1, "feature '", q.name, "': channels must be at least 1, got ", q.channels);
    require(q.kind != Kind::axial_vector || interface.dimension > 1, "feature '", q.name,
            "': an axial vector needs 2 or 3 dimensions, got ", interface.dimension);
    require(!columns || scalar || (vector && q.level == Level::node), "feature '", q.name, "': a ",
            level_names[static_cast<int>(q.level)], " feature cannot be a ",
            kind_names[static_cast<int>(q.kind)]);
  }
}

void require_points(const Points& points, const Input& input, const Interface& interface) {
  const int64_t nodes = points.nodes(), d = interface.dimension, b = points.count();
  require_shape(points.positions, {nodes, d}, "positions");
  require_floating(points.positions, "positions");
  require_shape(points.graphs.index, {nodes}, "graphs.index");
  require_features(interface);
  if (interface.types > 0) {
    require_shape(points.types, {nodes}, "types");
    require(points.types.scalar_type() == at::kLong, "types: must be int64, got ",
            c10::toString(points.types.scalar_type()));
    require(nodes == 0 || (points.types.ge(0) & points.types.lt(interface.types)).all().item<bool>(),
            "types: must be 0 .. ", interface.types - 1);
  } else {
    require(!points.types.defined(), "types: the schema declares none");
  }
  const auto& f = interface.features;
  const auto width = [](const std::vector<Columns>& columns) {
    return columns.empty() ? 0 : columns.back().end;
  };
  require_columns(points.scalars, {nodes, width(scalar_columns(interface, Level::node))}, "scalars");
  const int64_t v = width(vector_columns(interface, Level::node));
  require_columns(points.vectors, {nodes, v, d}, "vectors");
  require_columns(points.pairs, {points.graphs.pairs(), width(scalar_columns(interface, Level::pair))},
                  "pairs");
  require_objects(points);
  require_named(points.of_graphs, f, Level::graph, false, input, "graph input");
  require_named(points.of_objects, f, Level::object, false, input, "object input");
  if (points.cell.defined()) {
    require(d == 3, "cell: needs three dimensions, got ", d);
    require_shape(points.cell, {b, 3, 3}, "cell");
    require_floating(points.cell, "cell");
  }
  if (points.pbc.defined()) {
    require_shape(points.pbc, {b, 3}, "pbc");
    require(points.pbc.scalar_type() == at::kBool, "pbc: must be bool, got ",
            c10::toString(points.pbc.scalar_type()));
  }
}

void require_poses(const Poses& poses, const Interface& interface) {
  const int64_t nodes = poses.nodes(), m = matrix_size(poses.group);
  require(interface.dimension == dimension_of(poses.group), "poses: the group acts on ",
          dimension_of(poses.group), " dimensions, the schema has ", interface.dimension);
  require(!interface.group || *interface.group == poses.group, "poses: must be of ",
          interface.group ? name_of(*interface.group) : "", ", got ", name_of(poses.group));
  require_shape(poses.elements, {nodes, m, m}, "elements");
  require_floating(poses.elements, "elements");
  require_shape(poses.graphs.index, {nodes}, "graphs.index");
  const auto& f = interface.features;
  for (const auto& q : f) {
    require(q.level == Level::node && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar), "feature '",
            q.name, "': of poses must be a scalar of node level, got a ",
            kind_names[static_cast<int>(q.kind)], " of ", level_names[static_cast<int>(q.level)], " level");
  }
  require_columns(
      poses.scalars,
      {nodes, channels_of(f, Level::node, Kind::scalar) + channels_of(f, Level::node, Kind::pseudoscalar)},
      "scalars");
}

void require_grid(const Grid& grid, const Interface& interface) {
  require(grid.values.defined() && grid.values.dim() == interface.dimension + 2,
          "values: must have axes (B, C, ", interface.dimension, " of space), got ",
          grid.values.defined() ? grid.values.dim() : 0, " axes");
  require_floating(grid.values, "values");
  int64_t channels = 0;
  for (const auto& q : interface.features) {
    channels += q.channels * components(q.kind, interface.dimension);
  }
  require(grid.values.size(1) == channels, "values: must have ", channels, " channels, got ",
          grid.values.size(1));
}

}  // namespace

void require_consistent(const Batch& batch, const Schema& schema) {
  const auto& input = batch.input;
  require(static_cast<size_t>(schema.carrier) == input.index(), "input: must be ",
          carrier_names[static_cast<int>(schema.carrier)], ", got ", carrier_names[input.index()]);
  if (const auto* points = std::get_if<Points>(&input)) {
    require_points(*points, input, schema.interface);
  } else if (const auto* poses = std::get_if<Poses>(&input)) {
    require_poses(*poses, schema.interface);
  } else {
    require_grid(std::get<Grid>(input), schema.interface);
  }
  require_named(batch.labels, schema.labels, Level::graph, true, input, "label");
}

}  // namespace weyl
