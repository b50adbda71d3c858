#include "weyl/models/features.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/one_hot.h>

#include <algorithm>

#include "weyl/carriers/node_feature.h"
#include "weyl/core/check.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/segment.h"

namespace weyl {
namespace {

bool odd(Kind kind) {
  return kind == Kind::pseudoscalar || kind == Kind::axial_vector;
}

constexpr Level levels_in_order[] = {Level::node, Level::object, Level::graph};

/// The value of one object- or graph-level feature on every node: (N, c) or (N, c, D).
Tensor on_nodes(const Quantity& q, const Points& points) {
  const Named& of = q.level == Level::graph ? points.of_graphs : points.of_objects;
  return spread(of.at(q.name), q.level == Level::graph ? points.graphs : points.objects);
}

}  // namespace

InputColumns input_columns(const Interface& interface, const char* system, bool reads_pairs) {
  InputColumns columns;
  columns.types = interface.types;
  columns.scalars.assign(interface.types, false);
  for (const auto& q : interface.features) {
    const bool known = is_number(q.kind, interface.dimension) || is_vector(q.kind, interface.dimension);
    require<ConfigError>(
        known && (q.level != Level::pair || (reads_pairs && q.kind == Kind::scalar)), system, ": feature '",
        q.name, "' (", level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system reads: it takes scalars and vectors of nodes, objects and graphs");
  }
  for (const Level level : levels_in_order) {
    for (const auto& q : interface.features) {
      if (q.level == level) {
        auto& parities = is_vector(q.kind, interface.dimension) ? columns.vectors : columns.scalars;
        parities.insert(parities.end(), q.channels, odd(q.kind));
      }
    }
  }
  return columns;
}

InputValues input_values(const Points& points, const Interface& interface) {
  const auto options = points.positions.options();
  std::vector<Tensor> scalars, vectors;
  if (interface.types > 0) {
    scalars.push_back(at::one_hot(points.types, interface.types).to(options.dtype()));
  }
  int64_t scalar_column = 0, vector_column = 0;
  for (const Level level : levels_in_order) {
    for (const auto& q : interface.features) {
      if (q.level != level) {
        continue;
      }
      const bool vector = is_vector(q.kind, interface.dimension);
      Tensor value;
      if (level == Level::node) {
        const Tensor& all = vector ? points.vectors : points.scalars;
        int64_t& column = vector ? vector_column : scalar_column;
        value = all.narrow(1, column, q.channels);
        column += q.channels;
      } else {
        value = on_nodes(q, points);
      }
      if (vector && q.role == Role::point) {
        value = value - points.positions.unsqueeze(1);
      }
      if (vector) {
        vectors.push_back(value);
      } else {
        scalars.push_back(value.reshape({points.nodes(), q.channels}));
      }
    }
  }
  InputValues values;
  if (!scalars.empty()) {
    values.scalars = scalars.size() == 1 ? scalars[0] : at::cat(scalars, 1);
  }
  if (!vectors.empty()) {
    values.vectors = vectors.size() == 1 ? vectors[0] : at::cat(vectors, 1);
  }
  return values;
}

Tensor centred_positions(const Points& points, const Interface& interface) {
  const Segments& graphs = points.graphs;
  const Tensor real = real_nodes(points, interface), wide = points.positions.to(at::kDouble);
  Tensor mean;
  if (real.defined()) {
    const Tensor counted = real.to(at::kDouble).unsqueeze(1);
    mean = segment_sum(wide * counted, graphs) / segment_sum(counted, graphs).clamp_min(1);
  } else {
    mean = segment_mean(wide, graphs);
  }
  return (wide - spread(mean, graphs)).to(points.positions.scalar_type());
}

std::optional<NearestNodes> nearest_of(const Points& points, int64_t nearest, const char* table) {
  if (nearest == 0) {
    return {};
  }
  require<DataError>(points.placed, table, ".nearest: must be 0 for an input without positions, got ",
                     nearest);
  return nearest_nodes(points.positions, points.graphs, nearest);
}

double nodes_seen(double graph_nodes, int64_t nearest) {
  return nearest > 0 ? std::min(static_cast<double>(nearest + 1), graph_nodes) : graph_nodes;
}

std::vector<std::string> warnings_of_nearest(int64_t nearest, const char* table,
                                             std::string_view differentiated_by) {
  if (nearest == 0 || differentiated_by.empty()) {
    return {};
  }
  return {text(table, ".nearest = ", nearest,
               ": what is differentiated jumps where another node comes to be one of the nearest, so that ",
               differentiated_by, " gives no smooth forces: 0 is for energies")};
}

}  // namespace weyl
