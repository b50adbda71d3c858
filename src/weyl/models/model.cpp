#include "weyl/models/model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>

#include "weyl/core/check.h"
#include "weyl/models/features.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

/// `value` must be (rows, columns) or (rows, columns, D), in the dtype and on the device of the positions.
void check_values(const char* what, const std::string& name, const Tensor& value, int64_t rows,
                  int64_t columns, int64_t dimension, const Tensor& positions) {
  require(value.defined(), "model input: ", what, name, " is missing");
  const bool vector = dimension > 0;
  const bool fits = value.dim() == (vector ? 3 : 2) && value.size(0) == rows && value.size(1) == columns &&
                    (!vector || value.size(2) == dimension);
  require(fits, "model input: ", what, name, " must be (", rows, ", ", columns,
          vector ? ", " + std::to_string(dimension) : std::string(), "), got ", value.sizes());
  require(value.scalar_type() == positions.scalar_type() && value.device() == positions.device(),
          "model input: ", what, name, " must be ", positions.scalar_type(), " on ", positions.device(),
          ", got ", value.scalar_type(), " on ", value.device());
}

void check_types(const Points& points, int64_t types) {
  require(points.types.defined() && points.types.dim() == 1 && points.types.size(0) == points.nodes() &&
              points.types.scalar_type() == at::kLong,
          "model input: types must be int64 (", points.nodes(), "), got ",
          points.types.defined() ? text(points.types.scalar_type(), " ", points.types.sizes()) : "none");
  if (points.types.numel() > 0 && points.types.is_cpu()) {  // on a device the look-up itself checks
    const int64_t low = points.types.min().item<int64_t>(), high = points.types.max().item<int64_t>();
    require(low >= 0 && high < types, "model input: types must lie in 0..", types - 1, ", got ", low, "..",
            high);
  }
}

void check_cell(const Points& points, const Interface& interface) {
  const int64_t graphs = points.count(), d = interface.dimension;
  require(points.cell.dim() == 3 && points.cell.size(0) == graphs && points.cell.size(1) == d &&
              points.cell.size(2) == d && points.cell.scalar_type() == points.positions.scalar_type(),
          "model input: cell must be (", graphs, ", ", d, ", ", d, ") of ", points.positions.scalar_type(),
          ", got ", points.cell.sizes(), " of ", points.cell.scalar_type());
  require(points.pbc.defined() && points.pbc.dim() == 2 && points.pbc.size(0) == graphs &&
              points.pbc.size(1) == d && points.pbc.scalar_type() == at::kBool,
          "model input: a cell needs pbc, bool (", graphs, ", ", d, "), got ",
          points.pbc.defined() ? text(points.pbc.scalar_type(), " ", points.pbc.sizes()) : "none");
}

void check_points(const Points& points, const Interface& interface, at::ScalarType dtype, at::Device device) {
  const int64_t n = points.nodes(), d = interface.dimension;
  const Tensor& x = points.positions;
  require(x.defined() && x.dim() == 2 && x.size(0) == n && x.size(1) == d, "model input: positions must be (",
          n, ", ", d, "), got ", x.defined() ? text(x.sizes()) : "none");
  require(x.scalar_type() == dtype && x.device() == device, "model input: positions must be ", dtype, " on ",
          device, " like the weights, got ", x.scalar_type(), " on ", x.device());
  if (points.cell.defined()) {
    check_cell(points, interface);
  }
  if (interface.types > 0) {
    check_types(points, interface.types);
  }
  int64_t scalars = 0, vectors = 0;
  for (const auto& q : interface.features) {
    const bool vector = is_vector(q.kind, d);
    if (q.level == Level::node) {
      (vector ? vectors : scalars) += q.channels;
      continue;
    }
    const bool of_graph = q.level == Level::graph;
    const Named& of = of_graph ? points.of_graphs : points.of_objects;
    const auto found = of.find(q.name);
    require(of_graph || points.objects.rows() == n, "model input: feature '", q.name,
            "' belongs to objects, and the input has none");
    check_values(of_graph ? "graph feature " : "object feature ", q.name,
                 found == of.end() ? Tensor() : found->second,
                 of_graph ? points.count() : points.objects.count(), q.channels, vector ? d : 0, x);
  }
  if (scalars > 0) {
    check_values("scalars", "", points.scalars, n, scalars, 0, x);
  }
  if (vectors > 0) {
    check_values("vectors", "", points.vectors, n, vectors, d, x);
  }
}

void check_poses(const Poses& poses, const Interface& interface, at::ScalarType dtype, at::Device device) {
  const LieGroup group = *interface.group;
  require(poses.group == group, "model input: poses must be of ", name_of(group), ", got ",
          name_of(poses.group));
  const int64_t n = poses.nodes(), m = matrix_size(group);
  const Tensor& g = poses.elements;
  require(g.defined() && g.dim() == 3 && g.size(0) == n && g.size(1) == m && g.size(2) == m,
          "model input: elements must be (", n, ", ", m, ", ", m, "), got ",
          g.defined() ? text(g.sizes()) : "none");
  require(g.scalar_type() == dtype && g.device() == device, "model input: elements must be ", dtype, " on ",
          device, " like the weights, got ", g.scalar_type(), " on ", g.device());
  int64_t scalars = 0;
  for (const auto& q : interface.features) {
    scalars += q.channels;
  }
  if (scalars > 0) {
    check_values("scalars", "", poses.scalars, n, scalars, 0, g);
  }
}

void check_grid(const Grid& grid, const Interface& interface, at::ScalarType dtype, at::Device device) {
  int64_t channels = 0;
  for (const auto& q : interface.features) {
    channels += q.channels;
  }
  const Tensor& x = grid.values;
  require(x.defined() && x.dim() == interface.dimension + 2 && x.size(1) == channels,
          "model input: values must be (B, ", channels, ", ", interface.dimension, " axes), got ",
          x.defined() ? text(x.sizes()) : "none");
  require(x.numel() > 0 || x.size(0) == 0, "model input: a grid must have cells, got ", x.sizes());
  require(x.scalar_type() == dtype && x.device() == device, "model input: values must be ", dtype, " on ",
          device, " like the weights, got ", x.scalar_type(), " on ", x.device());
}

}  // namespace

Symmetry Model::symmetry_for(const Input&) const {
  return symmetry();
}

PosesModel::PosesModel(Interface given) : Model(std::move(given)) {
  require<ConfigError>(interface.group.has_value(),
                       "model of poses: the interface must name their Lie group, got none");
  const LieGroup group = *interface.group;
  require<ConfigError>(interface.dimension == dimension_of(group), "model of poses: ", name_of(group),
                       " moves ", dimension_of(group), " dimensions, the interface has ",
                       interface.dimension);
  for (const auto& q : interface.features) {
    require<ConfigError>(q.level == Level::node && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar),
                         "model of poses: feature '", q.name, "' must be a scalar of nodes, got a ",
                         kind_names[static_cast<int>(q.kind)], " of ", level_names[static_cast<int>(q.level)],
                         " level");
  }
}

Named PosesModel::operator()(const Input& input) {
  const auto* poses = std::get_if<Poses>(&input);
  require(poses != nullptr, "model input: must be poses, got ", carrier_names[input.index()]);
  check_poses(*poses, interface, dtype(), device());
  return forward(*poses);
}

GridModel::GridModel(Interface given) : Model(std::move(given)) {
  require<ConfigError>(interface.grid && (interface.dimension == 2 || interface.dimension == 3),
                       "model of grids: the interface must be of a grid of 2 or 3 dimensions, got ",
                       interface.grid ? "" : "no grid, ", interface.dimension);
  for (const auto& q : interface.features) {
    require<ConfigError>(q.level == Level::node && (q.kind == Kind::scalar || q.kind == Kind::pseudoscalar),
                         "model of grids: feature '", q.name, "' must be a scalar of nodes, got a ",
                         kind_names[static_cast<int>(q.kind)], " of ", level_names[static_cast<int>(q.level)],
                         " level");
  }
}

Named GridModel::operator()(const Input& input) {
  const auto* grid = std::get_if<Grid>(&input);
  require(grid != nullptr, "model input: must be a grid, got ", carrier_names[input.index()]);
  check_grid(*grid, interface, dtype(), device());
  return forward(*grid);
}

std::string symbol_of(LieGroup group) {
  constexpr const char* symbols[] = {"SO(2)", "SE(2)", "SO(3)", "SE(3)", "Aff(2)", "Aff(3)"};
  return symbols[static_cast<int>(group)];
}

void require_no_cell(const char* where, const Model& model, const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  const auto* of_points = dynamic_cast<const PointsModel*>(&model);
  require<ConfigError>(
      points == nullptr || !points->cell.defined() || of_points == nullptr || of_points->periodic(), where,
      ": must have no cell, because this model knows no periodic boundaries (system geomformer "
      "does, with model.geomformer.cutoff and input = \"local\", or with preset et or painn), "
      "got one");
}

Named PointsModel::operator()(const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require(points != nullptr, "model input: must be points, got ", carrier_names[input.index()]);
  require_no_cell("model input", *this, input);
  check_points(*points, interface, dtype(), device());
  Named outputs = forward(*points);
  for (const auto& q : interface.outputs) {  // a point is an offset from where it belongs
    if (q.kind == Kind::vector && q.role == Role::point) {
      const Tensor origin =
          q.level == Level::node ? points->positions : segment_mean(points->positions, points->graphs);
      outputs[q.name] = outputs[q.name] + origin.unsqueeze(1);
    }
  }
  return outputs;
}

}  // namespace weyl
