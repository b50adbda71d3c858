#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <span>

#include "weyl/algebra/lattice/neighbours.h"

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

}  // namespace weyl
