#pragma once

#include <vector>

#include "weyl/core/segments.h"

namespace weyl {

/// Directed edges i -> j from centres to their neighbours, within the graphs of a batch. They are in the order of
/// centre, neighbour and shift, and none is there twice. An edge and its reverse (j, i, -shift) are one bond: what
/// depends on lengths alone is the same for both, and is computed once for each bond.
struct Edges {
  Tensor centre, neighbour;  // (E) int64: rows of nodes
  Tensor shifts;             // (E, 3) int64: lattice vectors from j to the image meant; undefined: none
  Segments of_centre;        // the edges of each of the N nodes as centres
  Segments of_graph;         // the edges of each of the B graphs
  Tensor bond;               // (E) int64: the bond of each edge, 0 <= b < P, numbered as they first occur
  Tensor edge_of_bond;       // (P) int64: the first edge of each bond

  int64_t count() const { return of_centre.rows(); }      // E
  int64_t nodes() const { return of_centre.count(); }     // N
  int64_t graphs() const { return of_graph.count(); }     // B
  int64_t bonds() const { return edge_of_bond.size(0); }  // P
};

/// Edges from lists: centre, neighbour (E) int64, shifts (E, 3) int64 or undefined. ShapeError unless they are in the
/// order of Edges, none is there twice and all stay in their graphs. (An edge whose reverse is not in the list is a
/// bond of its own.)
Edges edges_of(const Tensor& centre, const Tensor& neighbour, const Tensor& shifts, const Segments& graphs);

/// Edges as a search on a device finds them. They stay there and are not checked, and nothing waits for the device.
struct FoundEdges {
  Tensor centre, neighbour;      // (E) int64, in the order of Edges, each with its reverse
  Tensor shifts;                 // (E, 3) int64 or undefined
  Tensor reverse;                // (E) int64: the reverse of each edge
  std::vector<int64_t> offsets;  // (N + 1): where the edges of each node begin and end
  Tensor offsets_there;          // (N + 1) the same on the device
  int64_t own_reverses = 0;      // number of edges that are their own reverse
};
Edges edges_of(FoundEdges found, const Segments& graphs);

/// All ordered pairs of nodes of each graph, a node with itself included: the sum n^2 rows of pair level, in the order
/// graph, first node (the centre), second node. Their tensors are made once a batch.
Edges all_pairs(const Segments& graphs);

/// x_e = r_j + shift_e . cell - r_i -> (E, D), for positions (N, D) and cell (B, 3, 3), whose rows are lattice vectors.
/// Without a cell (undefined), the edges must have no shifts. Differentiable to any order in positions and cell.
/// ShapeError unless shapes and dtypes agree.
Tensor displacements(const Tensor& positions, const Edges& edges, const Tensor& cell = {});

struct Polar {
  Tensor length, direction;  // (E), (E, D): x = length direction
};
/// Lengths and unit vectors of rows x (E, D). A row of zeros (an edge of an atom to itself) has length and
/// direction zero; its length has no slope there, and its direction that of x. Differentiable to any order.
Polar polar(const Tensor& x);

/// Edges in an order in which those of one row follow one another, else in their own.
struct EdgeOrder {
  std::vector<int64_t> edges;   // empty: as they stand
  std::vector<int64_t> begins;  // of the rows' edges, and the end
};
/// By the row of each, `row` (E) int64 on the CPU, of so many `rows`.
EdgeOrder edges_by(const Tensor& row, int64_t rows);

}  // namespace weyl
