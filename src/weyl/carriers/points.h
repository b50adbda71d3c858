#pragma once

#include <map>
#include <string>

#include "weyl/core/segments.h"

namespace weyl {

/// Tensors by Quantity name. Scalars are (L, c), vectors (L, c, D), multivectors (L, c, 16), with L rows of their level.
using Named = std::map<std::string, Tensor>;

/// Points in space, in ragged graphs: molecules, particles, point clouds, patches. Undefined tensors are
/// absent. Feature columns stand in the order of Interface::features. Positions are always there: of nodes that
/// multivectors alone describe they are zeros that say nothing, and `placed` is false.
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

  int64_t nodes() const { return graphs.rows(); }          // N
  int64_t count() const { return graphs.count(); }         // B
  int64_t dimension() const { return positions.size(1); }  // D
};

}  // namespace weyl
