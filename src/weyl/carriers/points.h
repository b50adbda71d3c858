#pragma once

#include <map>
#include <string>

#include "weyl/core/segments.h"

namespace weyl {

/// Tensors by Quantity name. Scalars are (L, c), vectors (L, c, D), with L rows of their level.
using Named = std::map<std::string, Tensor>;

/// Points in space, in ragged graphs: molecules, particles, point clouds, patches. Undefined tensors are
/// absent. Feature columns stand in the order of Interface::features.
struct Points {
  Tensor positions;             // (N, D)
  Tensor types;                 // (N) int64: a category
  Tensor scalars;               // (N, S)
  Tensor vectors;               // (N, V, D)
  Tensor pairs;                 // (sum n^2, E), rows in the order graph, i, j
  Segments graphs;              // (B)
  Segments objects;             // nested in graphs, or empty
  Tensor cell, pbc;             // (B, 3, 3) rows are lattice vectors, (B, 3) bool
  Named of_graphs, of_objects;  // graph- and object-level inputs by name

  int64_t nodes() const { return graphs.rows(); }          // N
  int64_t count() const { return graphs.count(); }         // B
  int64_t dimension() const { return positions.size(1); }  // D
};

}  // namespace weyl
