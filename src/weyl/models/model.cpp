#include "weyl/models/model.h"

#include <ATen/TensorOperators.h>
#include <algorithm>
#include <cmath>

#include "weyl/carriers/consistency.h"
#include "weyl/carriers/origin.h"
#include "weyl/carriers/points.h"
#include "weyl/core/check.h"
#include "weyl/ops/edges/bond_gradient.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

/// Shapes and kinds by the interface, dtype and device by the weights.
void check_input(const Input& input, const Model& model) {
  const Interface& interface = model.interface;
  require_input(input, interface, Undeclared::ignored, "model input: ");
  const at::ScalarType dtype = model.dtype();
  const at::Device device = model.device();
  const auto check = [&](std::string_view name, const Tensor& x) {
    require(x.device() == device && (!x.is_floating_point() || x.scalar_type() == dtype),
            "model input: ", name, ": must be ", x.is_floating_point() ? dtype : x.scalar_type(), " on ",
            device, " like the weights, got ", x.scalar_type(), " on ", x.device());
  };
  if (const auto* points = std::get_if<Points>(&input)) {
    each_tensor(*points, [&](const PointsTensor& of, const Tensor& x) {
      if (x.defined() && shape_of(of, *points, interface)) {
        check(of.name, x);
      }
    });
  } else if (const auto* poses = std::get_if<Poses>(&input)) {
    check("elements", poses->elements);
    if (!interface.features.empty()) {
      check("scalars", poses->scalars);
    }
  } else {
    check("values", std::get<Grid>(input).values);
  }
}

/// With what a model does not say.
Work completed(Work work) {
  work.backward = work.backward > 0 ? work.backward : 2 * work.forward;
  work.nominal = work.nominal > 0 ? work.nominal : 3 * work.forward;
  return work;
}

}  // namespace

std::string coarser_output(std::string_view name, int64_t step) {
  return text(name, ", coarser by ", step);
}

std::optional<BondGradient> Model::bond_gradient(const Input&, const Tensor&) {
  return {};
}

Work Model::work_of_token(double nodes) const {
  return completed(work(nodes));
}

Work Model::dense_work_of_token(double nodes) const {
  return completed(dense_work(nodes));
}

Symmetry Model::symmetry_for(const Input&) const {
  return symmetry();
}

PointsModel::PointsModel(Interface given) : Model(std::move(given)) {
  require<ConfigError>(carrier_of(interface) == Carrier::points,
                       "model of points: the interface must be of points, got ",
                       name_of(carrier_of(interface)));
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
  check_input(input, *this);
  return forward(std::get<Poses>(input));
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
  check_input(input, *this);
  const Grid& grid = std::get<Grid>(input);
  require(grid.values.numel() > 0 || grid.count() == 0, "model input: a grid must have cells, got ",
          grid.values.sizes());
  return forward(grid);
}

int64_t GridModel::channels_in(const char* system) const {
  int64_t channels = 0;
  for (const auto& q : interface.features) {
    channels += q.channels;
  }
  require<ConfigError>(channels > 0, system, ": the interface must have features, got none");
  return channels;
}

int64_t GridModel::channels_out(const char* system, Level level) const {
  require<ConfigError>(!interface.outputs.empty(), system, ": the interface must have outputs, got none");
  int64_t channels = 0;
  for (const auto& q : interface.outputs) {
    require<ConfigError>(q.kind == Kind::scalar && q.level == level, system, ": output '", q.name, "' (",
                         level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
                         ") is not one that this net gives: scalars of ",
                         level_names[static_cast<int>(level)], " level are");
    channels += q.channels;
  }
  return channels;
}

Named GridModel::by_name(const Tensor& all) const {
  Named outputs;
  int64_t first = 0;
  for (const auto& q : interface.outputs) {
    outputs[q.name] = all.narrow(1, first, q.channels);
    first += q.channels;
  }
  return outputs;
}

int64_t GridModel::side_of(double cells) const {
  return std::llround(std::pow(cells, 1 / static_cast<double>(interface.dimension)));
}

void note_objects(Model& model, const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  if (points != nullptr && model.looks_inside_objects() && points->objects.rows() > 0) {
    const Segments& objects = points->objects;
    model.set_object_nodes(static_cast<double>(objects.pairs()) / static_cast<double>(objects.rows()));
  }
}

bool exact_under_translations(const Model& model) {
  const std::vector<Claim> claims = model.symmetry().exact;
  return std::any_of(claims.begin(), claims.end(), [](const Claim& claim) {
    return claim.of == Claim::Of::translations || claim.of == Claim::Of::left_motions;
  });
}

Centre centre_of(const Model& model) {
  if (!exact_under_translations(model)) {
    return Centre::none;
  }
  const std::vector<Claim> claims = model.symmetry().exact;
  const bool unordered = std::any_of(claims.begin(), claims.end(),
                                     [](const Claim& claim) { return claim.of == Claim::Of::permutations; });
  return unordered || model.carrier() != Carrier::poses ? Centre::mean : Centre::first;
}

std::string note_on_places(const Model& model) {
  if (!has_places(model.interface) || exact_under_translations(model)) {
    return "";
  }
  return "this model is not exact under translations: it takes positions from the data's own origin, rounded "
         "to its dtype, which loses digits of samples that are far from there";
}

std::string symbol_of(LieGroup group) {
  constexpr const char* symbols[] = {"SO(2)", "SE(2)", "SO(3)", "SE(3)", "Aff(2)", "Aff(3)"};
  return symbols[static_cast<int>(group)];
}

void require_no_cell(const char* where, const Model& model, const Input& input) {
  const auto* points = std::get_if<Points>(&input);
  require<ConfigError>(points == nullptr || !points->cell.defined() || model.periodic(), where,
                       ": must have no cell, because this model knows no periodic boundaries (a model does "
                       "whose interactions all end at a cutoff: see `cutoff` among its system's options), "
                       "got one");
}

Tensor origin_of(const Points& points, Level level) {
  require(level != Level::pair, "points of pair level have no place that they are counted from");
  return level == Level::node
             ? points.positions
             : segment_mean(points.positions, level == Level::object ? points.objects : points.graphs);
}

const Points& PointsModel::checked(const Input& input) const {
  require_no_cell("model input", *this, input);
  check_input(input, *this);
  const Points& points = std::get<Points>(input);
  require<ConfigError>(
      !points.strains.defined() || reach().has_value(),
      "model input: strains of single nodes need a model whose nodes see no farther than a cut-off");
  require(!points.cell.defined() || points.pbc.defined(), "model input: a cell needs pbc, bool (",
          points.count(), ", ", interface.dimension, "), got none");
  for (const auto& q : interface.outputs) {
    require(q.level != Level::object || points.objects.rows() == points.nodes(), "model input: output '",
            q.name, "' belongs to objects, and the input has none");
  }
  return points;
}

Named PointsModel::operator()(const Input& input) {
  const Points& points = checked(input);
  Named outputs = forward(points);
  for (const auto& q : interface.outputs) {  // a point is an offset from where it belongs
    if (q.kind == Kind::vector && q.role == Role::point) {
      outputs[q.name] = outputs[q.name] + origin_of(points, q.level).unsqueeze(1);
    }
  }
  return outputs;
}

}  // namespace weyl
