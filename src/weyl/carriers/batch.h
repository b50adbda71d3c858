#pragma once

#include <span>
#include <variant>
#include <vector>

#include "weyl/carriers/grid.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/poses.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

using Input = std::variant<Points, Poses, Grid>;  // in the order of Carrier

/// Inputs with their labels (float64, by Quantity name).
struct Batch {
  Input input;
  Named labels;

  int64_t count() const;   // B, graphs or grids
  int64_t tokens() const;  // N, rows (grid cells for a Grid)
};

/// What a data set holds beside its tensors: which columns are what.
struct Schema {
  Interface interface;  // of which carrier, dimension, types, units and features; outputs stay empty
  std::vector<Quantity> labels;
  /// For data in motion, the time from the input to its labels, in the unit of the velocities; 0: none.
  double horizon = 0;
  std::vector<std::string> unread;    // what the files have beside, which are no labels: for messages
  std::vector<std::string> warnings;  // doubts about the files, to be said before their use
  std::map<std::string, std::vector<std::string>> category_names;  // of the values of labels, where known
  std::vector<std::string> channel_names;                          // of a grid, in their order, where known

  Carrier carrier() const { return carrier_of(interface); }
};

/// What data of an interface hold: its features, and as labels its outputs.
Schema schema_of(const Interface& interface);

Carrier carrier_of(const Input& input);

/// The graphs `which` (any order, repeats allowed) of a large batch, by row gather. Levels come from the
/// schema.
Batch take(const Batch& all, std::span<const int64_t> which, const Schema& schema);

/// Batches one after the other. All must have the same fields.
Batch concatenate(std::span<const Batch> parts, const Schema& schema);

/// Brings floating-point inputs to a dtype and all tensors to a device (to_device); labels keep float64.
Batch to(const Batch& batch, at::Device device, at::ScalarType dtype);
Input to(const Input& input, at::Device device, at::ScalarType dtype);

/// One motion of space per graph, x -> R x + t, active, in float64.
struct Motions {
  Tensor linear;       // (B, D, D), any invertible matrix; orthogonal for rotations and reflections
  Tensor translation;  // (B, D), or undefined
};

class Stream;

/// Uniform rotations (SO(D)), D = 1 (the identity), 2 or 3; with `reflections` the full O(D). Drawn from the
/// stream given.
Motions random_rotations(int64_t count, int64_t dimension, bool reflections, Stream& stream);

/// Moves inputs and labels, by kind and role: one function for augmentation and for audits. Computed in
/// float64 and rounded once to each tensor's own dtype.
Batch transform(const Batch& batch, const Motions& motions, const Schema& schema);

/// Moves named outputs whose rows follow the batch's levels (`like` supplies graphs and objects).
Named transform(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                const Input& like);

/// Reorders the nodes inside each graph: `order` (N) holds for each new row the old row.
Batch permute_nodes(const Batch& batch, const Tensor& order, const Schema& schema);
Named permute_nodes(const Named& values, std::span<const Quantity> quantities, const Tensor& order);

}  // namespace weyl
