#pragma once

#include <span>
#include <variant>
#include <vector>

#include "weyl/carriers/grid.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/poses.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

enum class Carrier { points, poses, grid };
constexpr std::string_view carrier_names[] = {"points", "poses", "grid"};

using Input = std::variant<Points, Poses, Grid>;

/// Inputs with their labels (float64, by Quantity name).
struct Batch {
  Input input;
  Named labels;

  int64_t count() const;   // B, graphs or grids
  int64_t tokens() const;  // N, rows (grid cells for a Grid)
};

/// What a data set holds beside its tensors: which columns are what.
struct Schema {
  Carrier carrier = Carrier::points;
  Interface interface;  // dimension, types, typical_nodes, features; outputs stay empty
  std::vector<Quantity> labels;
  /// Of data in motion: time from the input to its labels, in the unit of the velocities; 0: none.
  double horizon = 0;
  std::string length_unit;            // of positions, cells and translations; empty: the data do not say
  std::vector<std::string> unread;    // what the files have beside, which are no labels: for messages
  std::vector<std::string> warnings;  // doubts about the files, to be said before their use
  std::map<std::string, std::vector<std::string>> category_names;  // of the values of labels, where known
};

/// What an interface without data is of: poses of its group, a grid, else points.
Carrier carrier_of(const Interface& interface);

/// Checks every tensor of a batch against its schema: which are there, their shapes, dtypes (labels float64,
/// or int64 for categories) and levels. ShapeError names the tensor, the shape that must hold and the one
/// found.
void require_consistent(const Batch& batch, const Schema& schema);

/// The graphs `which` (any order, repeats allowed) of a large batch, by row gather. Levels come from the
/// schema.
Batch take(const Batch& all, std::span<const int64_t> which, const Schema& schema);

/// Batches one after the other. All must have the same fields.
Batch concatenate(std::span<const Batch> parts, const Schema& schema);

/// Moves tensors to a device and floating-point inputs to a dtype; labels keep float64.
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
