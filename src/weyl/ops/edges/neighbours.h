#pragma once

#include <c10/core/Device.h>
#include <cstdint>
#include <span>

#include "weyl/algebra/lattice/neighbours.h"
#include "weyl/ops/edges/edges.h"

namespace weyl {

/// Edges of a graph: indices are 31 bits in places.
constexpr double most_edges = 2.1e9;

/// What is to be expected of a graph before it is searched.
struct ExpectedEdges {
  int64_t atoms = 0;
  bool periodic = false;
  double edges = 0;
};

/// Of a graph of `atoms` atoms, for which those of `search` stand: all of them, or some that fill the same space.
ExpectedEdges expected_edges(const NeighbourSearch& search, int64_t atoms);

/// How many edges a graph may have where they are kept, at most `most_edges`: atoms that are spread unevenly have more
/// than are expected. The errors of `neighbours`, if there are more already.
double limit_edges(std::span<const ExpectedEdges> graphs, double cutoff, at::Device device);

/// MemoryError unless so many bytes can be had on the device for comparing `pairs` pairs of atoms.
void require_memory_of_pairs(double pairs, double bytes, double cutoff, at::Device device);

/// ShapeError that names the graph, unless nothing is wrong with it.
void require_no_fault(NeighbourFault fault, int64_t graph);

/// Edges i -> j of each graph with |r_j + shift . cell - r_i| < cutoff, ordered by centre, neighbour and
/// shift; all of them, over as many images of a small cell as the cutoff reaches, an atom's own included.
///   positions (N, D), D <= 3, anywhere in space: shifts account for atoms outside the cell;
///   cell (B, 3, 3), rows are lattice vectors, and pbc (B, 3) bool: both or neither. Rows along axes that are
///   not periodic mean nothing and may be zero. Shifts are defined when the cell is.
///   self: edges (i, i) without a shift, too (length zero).
/// Decided in float64, of values alone; no derivatives. Time is linear in the atoms at a given density. One
/// line of ShapeError that names the graph unless positions are finite and cells finite and not singular, and when a
/// cutoff makes more than 10,000 edges an atom of a periodic cell (100 Angstrom where cells have 7); MemoryError when
/// the edges to be expected do not fit the memory there is. Both say how many edges it would be, before any is kept.
/// Searched in parallel, many graphs or the atoms of a large one; edges and their order do not depend on it. Where
/// positions are on another device they are found there (device_neighbours.h), and all tensors of edges are there.
Edges neighbours(const Tensor& positions, const Segments& graphs, double cutoff, const Tensor& cell = {},
                 const Tensor& pbc = {}, bool self = false);

}  // namespace weyl
