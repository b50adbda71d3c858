#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

/// One tensor of Points: its name (as in tensor files), what its rows belong to, and what it holds.
struct PointsTensor {
  enum class Holds { positions, types, scalars, vectors, multivectors, pairs, cell, pbc, input };
  std::string_view name;
  Level level;
  Holds holds;
};

/// f(PointsTensor, Tensor&) for each tensor that Points can have, undefined ones too, then for the inputs of graphs
/// and of objects that are there. This is the one list of them: who copies, gathers, moves, checks or writes points
/// goes over it.
template <class P, class F>
void each_tensor(P&& points, const F& f) {
  using Holds = PointsTensor::Holds;
  f(PointsTensor{"positions", Level::node, Holds::positions}, points.positions);
  f(PointsTensor{"types", Level::node, Holds::types}, points.types);
  f(PointsTensor{"scalars", Level::node, Holds::scalars}, points.scalars);
  f(PointsTensor{"vectors", Level::node, Holds::vectors}, points.vectors);
  f(PointsTensor{"multivectors", Level::node, Holds::multivectors}, points.multivectors);
  f(PointsTensor{"pairs", Level::pair, Holds::pairs}, points.pairs);
  f(PointsTensor{"cell", Level::graph, Holds::cell}, points.cell);
  f(PointsTensor{"pbc", Level::graph, Holds::pbc}, points.pbc);
  for (auto& [name, tensor] : points.of_graphs) {
    f(PointsTensor{name, Level::graph, Holds::input}, tensor);
  }
  for (auto& [name, tensor] : points.of_objects) {
    f(PointsTensor{name, Level::object, Holds::input}, tensor);
  }
}

/// The tensor of that kind in other points; undefined where there is none.
Tensor same_of(const PointsTensor& wanted, const Points& points);

/// The shape that the interface asks of a tensor of points with these graphs and objects; nothing where it declares
/// none. A cell and its `pbc` may be absent all the same.
std::optional<std::vector<int64_t>> shape_of(const PointsTensor& tensor, const Points& points,
                                             const Interface& interface);

}  // namespace weyl
