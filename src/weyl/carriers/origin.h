#pragma once

#include <span>

#include "weyl/carriers/batch.h"

namespace weyl {

/// Whether samples of an interface have places: points have, and poses but those of SO(n).
bool has_places(const Interface& interface);

/// By what samples are brought near the origin: not at all; by the mean of their places; by the place of their first node, for
/// models to which later nodes are not to say anything of earlier ones, be it by rounding.
enum class Centre { none, mean, first };

/// How far the places of each graph are moved, x -> x + shift, in float64 on the CPU. Undefined tensors: no move.
struct Shift {
  Tensor nodes;    // (N, D)
  Tensor graphs;   // (B, D)
  Tensor extents;  // (B) the longest side of the box around the places; 1 where all places coincide

  bool none() const { return !graphs.defined(); }
  Shift back() const { return none() ? Shift{} : Shift{-nodes, -graphs, extents}; }
};

/// The shift that brings each graph of points or poses near the origin, where float32 resolves its distances: at 1e4 Å
/// float32 rounds positions to 5e-4 Å.
///
/// The shift of a graph is a multiple of a power of two, at least twice the graph's extent and at least the spacing of
/// float64 numbers there. So the moved places lie within three times their extent, and a graph that is near the origin
/// already stays, bit for bit. The shift does not depend on what else is in the batch.
///
/// A graph with a node more than one cell outside its periodic cell is first wrapped into the cell; its nodes then move
/// by different lattice vectors. These stay as they are: grids, poses of SO(n), and graphs with places that are not
/// finite or so large that their extent or sum is not.
///
/// All this is of Centre::mean. With Centre::first the shift of a graph is minus the place of its first node, whatever the
/// others are, and with Centre::none there is none.
Shift to_origin(const Input& input, Centre centre = Centre::mean);

/// Moves what has a place, in inputs and labels: positions, elements of Lie groups, vectors of role `point`,
/// multivectors. What moves becomes float64; everything else stays the same tensor. For models that are exact under
/// translations (or left motions): to them the sample is the same. ShapeError: the input is a grid.
Batch shifted(const Batch& batch, const Shift& shift, const Schema& schema);

/// Moves named outputs in the same way; their rows follow the input `like`.
Named shifted(const Named& values, std::span<const Quantity> quantities, const Shift& shift,
              const Input& like);

}  // namespace weyl
