#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/core/segments.h"

namespace weyl {

/// Tensors by Quantity name. Scalars are (L, c), vectors (L, c, D), multivectors (L, c, 16), with L rows of their
/// level.
using Named = std::map<std::string, Tensor>;

/// Points in space, in ragged graphs: molecules, particles, point clouds, patches. Undefined tensors are absent.
/// Feature columns stand in the order of Interface::features. Positions are always defined. Where multivectors alone
/// describe the nodes, the positions are zeros without meaning, and `placed` is false.
struct Points {
  Tensor positions;             // (N, D)
  Tensor types;                 // (N) int64: a category
  Tensor scalars;               // (N, S)
  Tensor vectors;               // (N, V, D)
  Tensor multivectors;          // (N, M, 16), components in the order of algebra/clifford/blades.h
  Tensor pairs;                 // (sum n^2, E), rows in the order graph, i, j
  Segments graphs;              // (B)
  Segments objects;             // nested in graphs, or empty
  Tensor cell, pbc;             // (B, 3, 3) rows are lattice vectors, (B, 3) bool
  Named of_graphs, of_objects;  // graph- and object-level inputs by name
  bool placed = true;           // whether the positions were given

  // What a call of a model is asked for. No data have it, and what copies points leaves it out.
  /// Extensive outputs of graphs and objects as the values of the nodes whose sums they are, (N, ...), in the model's dtype.
  bool by_node = false;
  /// Small strains of single nodes (N, 3, 3), float64: an edge from i to j is x (1 + (s_i + s_j) / 2), so that the derivative
  /// by s_i is what the edges at node i are strained by, half to each end. Undefined: none.
  Tensor strains;

  int64_t nodes() const { return graphs.rows(); }          // N
  int64_t count() const { return graphs.count(); }         // B
  int64_t dimension() const { return positions.size(1); }  // D
};

/// One tensor of Points: its name (as in tensor files), what its rows belong to, and what it holds.
struct PointsTensor {
  enum class Holds { positions, types, scalars, vectors, multivectors, pairs, cell, pbc, input };
  std::string_view name;
  Level level;
  Holds holds;
};

/// Calls f(PointsTensor, Tensor&) for each tensor that Points can have, undefined ones included, and then for the
/// graph- and object-level inputs that are present. This is the one list of these tensors: whoever copies, gathers,
/// moves, checks or writes points goes over it.
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

/// The tensor of other points with the same name, level and kind; undefined where there is none.
Tensor same_of(const PointsTensor& wanted, const Points& points);

/// The shape that the interface requires of a tensor of points with these graphs and objects. Nothing where the
/// interface declares no such tensor. A cell and its `pbc` have a shape here, but may be absent.
std::optional<std::vector<int64_t>> shape_of(const PointsTensor& tensor, const Points& points,
                                             const Interface& interface);

/// Volumes |det cell| (B) of the cells, float64. 0 for graphs that do not repeat along all three lattice vectors; where
/// `pbc` is undefined, every graph with a cell repeats.
Tensor cell_volumes(const Points& points);

}  // namespace weyl
