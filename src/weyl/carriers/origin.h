#pragma once

#include <span>

#include "weyl/carriers/batch.h"

namespace weyl {

/// Whether samples of such a carrier have places: points have, and poses but those of SO(n).
bool has_places(const Interface& interface);

/// How far the places of each graph are moved, x -> x + shift, in float64 on the CPU. Undefined tensors: nothing moves.
struct Shift {
  Tensor nodes;    // (N, D)
  Tensor graphs;   // (B, D)
  Tensor extents;  // (B) of the places, the longest side of their box; 1 of one place, or several at one

  bool none() const { return !graphs.defined(); }
  Shift back() const { return none() ? Shift{} : Shift{-nodes, -graphs, extents}; }
};

/// The shift that brings each graph of points or poses near the origin, where float32 resolves its distances: at 1e4 Å
/// float32 rounds positions to 5e-4 Å. Nothing moves for a grid and for poses of SO(n), and graphs that are near the
/// origin stay, bit for bit: the shift of a graph is a multiple of a power of two that is no smaller than twice its
/// extent (and than what float64 resolves there), so that the moved places lie within three times their extent. A graph
/// with a node more than one cell outside its periodic cell is wrapped into it before, so that its nodes move by different
/// lattice vectors. The shift of a graph does not depend on what else is in the batch. A graph with places that are not
/// finite, or so large that their extent or sum is not, stays.
Shift to_origin(const Input& input);

/// Moves what has a place: positions, elements of Lie groups, vectors of role `point`, multivectors, in inputs and
/// labels. What moves becomes float64, everything else is the same tensor. For models that are exact under translations
/// (or left motions), which see the same sample. ShapeError: a schema of another input.
Batch shifted(const Batch& batch, const Shift& shift, const Schema& schema);

/// The same of named outputs, whose rows follow the input `like`.
Named shifted(const Named& values, std::span<const Quantity> quantities, const Shift& shift,
              const Input& like);

}  // namespace weyl
