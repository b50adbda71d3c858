#pragma once

#include "weyl/ops/edges/edges.h"

namespace weyl {

/// Nodes and those near them, in an order in which nodes that are near one another in space are near one another in memory:
/// what reads the rows of neighbours then finds them in the cache, however many nodes there are.
struct NearestNodes {
  Tensor order, back;  // (N) int64: row order[i] of the nodes is row i here, row back[n] here is node n
  Edges edges;         // between rows here
};

/// Edges i -> j of each node to itself and to its `count` nearest other nodes of its graph; where it has fewer, to all. Nodes
/// as far away as the last of these, squared distances the same to 1e-4, count as well, so that edges depend neither on the
/// order of nodes nor, where distances are equal, on rounding. "j is near i" need not go both ways.
///   positions (N, D), D <= 3.
/// Decided in float64 on the host, of values alone: no derivatives. By a k-d tree of each graph, in time N log N and memory of the
/// order of the edges. ShapeError: another shape, positions that are not finite, a count below 1; MemoryError: more edges
/// than the memory there is holds, where very many nodes are at one place.
NearestNodes nearest_nodes(const Tensor& positions, const Segments& graphs, int64_t count);

}  // namespace weyl
