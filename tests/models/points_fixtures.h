// Random points with features of every kind that the systems on points read, and outputs of every kind they
// give.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "weyl/carriers/batch.h"

namespace weyl {

inline Schema schema_of_all_kinds(int64_t dimension) {
  Schema schema;
  auto& i = schema.interface;
  i.dimension = dimension;
  i.types = 3;
  i.typical_nodes = 4;
  i.features = {
      {"charge", Level::node, Kind::scalar, 2},       {"velocity", Level::node, Kind::vector, 1},
      {"handed", Level::node, Kind::pseudoscalar, 1}, {"target", Level::node, Kind::vector, 1, Role::point},
      {"temperature", Level::graph, Kind::scalar, 1}, {"gravity", Level::graph, Kind::vector, 1}};
  if (dimension == 3) {
    i.features.push_back({"spin", Level::node, Kind::axial_vector, 1});
  }
  return schema;
}

inline std::vector<Quantity> outputs_of_all_kinds(int64_t dimension) {
  std::vector<Quantity> outputs{{"class", Level::graph, Kind::scalar, 3},
                                {"energy", Level::graph, Kind::scalar, 1, Role::free, /*extensive=*/true},
                                {"volume", Level::graph, Kind::pseudoscalar, 1},
                                {"dipole", Level::graph, Kind::vector, 1},
                                {"charges", Level::node, Kind::scalar, 2},
                                {"forces", Level::node, Kind::vector, 1},
                                {"later", Level::node, Kind::vector, 1, Role::point}};
  if (dimension > 1) {
    outputs.push_back({"torque", Level::node, Kind::axial_vector, 1});
  }
  return outputs;
}

/// An interface with all of that.
inline Interface interface_of_all_kinds(int64_t dimension) {
  Interface i = schema_of_all_kinds(dimension).interface;
  i.outputs = outputs_of_all_kinds(dimension);
  return i;
}

/// Random values for that schema, float64.
inline Batch random_points(const std::vector<int64_t>& sizes, int64_t dimension, uint64_t seed = 3) {
  const auto schema = schema_of_all_kinds(dimension);
  auto generator = at::detail::createCPUGenerator(seed);
  const auto real = [&](std::vector<int64_t> shape) {
    return at::randn(shape, generator, at::TensorOptions(at::kDouble));
  };
  Points p;
  p.graphs = Segments::of_sizes(sizes);
  const int64_t n = p.nodes(), b = p.count();
  p.positions = real({n, dimension});
  p.types = at::randint(0, 3, {n}, generator, at::TensorOptions(at::kLong));
  p.scalars = real({n, 3});
  p.vectors = real({n, dimension == 3 ? 3 : 2, dimension});
  p.of_graphs = {{"temperature", real({b, 1})}, {"gravity", real({b, 1, dimension})}};
  return {p, {}};
}

}  // namespace weyl
