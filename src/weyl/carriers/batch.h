#pragma once

#include <ATen/core/Tensor.h>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/core/segments.h"

namespace weyl {

/// Values on a regular grid: images (B, C, H, W) or volumes (B, C, X, Y, Z), one size per batch.
struct Grid {
  at::Tensor values;
  std::array<double, 3> spacing{1, 1, 1};

  int64_t count() const { return values.size(0); }
};

/// Tokens that are group elements, in ragged graphs. The matrices `elements` have m = n for SO(n) and m = n + 1
/// (homogeneous) otherwise.
struct Poses {
  LieGroup group = LieGroup::se3;
  Tensor elements;  // (N, m, m)
  Tensor scalars;   // (N, S)
  Segments graphs;

  int64_t nodes() const { return graphs.rows(); }
  int64_t count() const { return graphs.count(); }
};

using Input = std::variant<Points, Poses, Grid>;  // in the order of Carrier

/// Inputs with their labels (float64, by Quantity name).
struct Batch {
  Input input;
  Named labels;

  int64_t count() const;   // B, graphs or grids
  int64_t tokens() const;  // N, rows (grid cells for a Grid)
};

/// What a data set holds, told without its tensors: the columns of its input and its labels.
struct Schema {
  Interface interface;  // carrier, dimension, types, units and features; outputs stay empty
  std::vector<Quantity> labels;
  /// For data in motion: the time from the input to its labels, in the unit of the velocities. 0: none.
  double horizon = 0;
  std::vector<std::string> unread;  // names in the files that are neither inputs nor labels, for messages
  /// Labels that the files have and this set has not, with the reason: some samples lack them, or nobody knows which of
  /// two keys is meant.
  std::map<std::string, std::string> left_out;
  std::vector<std::string> warnings;  // what is likely wrong with the files, to be reported before their use
  std::map<std::string, std::vector<std::string>> category_names;  // class names by label, where known
  std::vector<std::string> channel_names;                          // of a grid, in their order, where known
  /// Energies by type of atoms that the data have alone, in the unit of the label `energy`: what energies refer to.
  std::map<int64_t, double> atom_energies;

  Carrier carrier() const { return carrier_of(interface); }
};

/// The schema of data for an interface: its features, and its outputs as labels.
Schema schema_of(const Interface& interface);

/// What else the files of a data set have, for messages, behind `begin`: names that nothing reads, and why labels are left
/// out. Empty: nothing.
std::string also_in_files(const Schema& data, std::string_view begin);

Carrier carrier_of(const Input& input);

/// The graphs `which` of a large batch, by a row gather; any order, repeats allowed. The schema gives the level of each
/// label. ShapeError: there is no such graph, or the schema lacks a label.
Batch take(const Batch& all, std::span<const int64_t> which, const Schema& schema);

/// Batches one after the other. All must have the same fields.
Batch concatenate(std::span<const Batch> parts, const Schema& schema);

/// Converts floating-point inputs to a dtype and moves all tensors to a device (to_device). Labels keep float64.
Batch to(const Batch& batch, at::Device device, at::ScalarType dtype);
Input to(const Input& input, at::Device device, at::ScalarType dtype);

/// One motion of space per graph, x -> R x + t, in float64. The motion is active: it moves points, not the frame.
struct Motions {
  Tensor linear;       // (B, D, D), any invertible matrix; orthogonal for rotations and reflections
  Tensor translation;  // (B, D), or undefined
};

class Stream;

/// Rotations drawn uniformly from SO(D), or from the full O(D) with `reflections`; D is 1 (the identity), 2 or 3.
Motions random_rotations(int64_t count, int64_t dimension, bool reflections, Stream& stream);

/// Moves inputs and labels by their kind and role; augmentation and audits both use it. It computes in float64 and
/// rounds once to each tensor's own dtype.
Batch transform(const Batch& batch, const Motions& motions, const Schema& schema);

/// Moves named outputs whose rows follow the batch's levels; `like` supplies the graphs and objects.
Named transform(const Named& values, std::span<const Quantity> quantities, const Motions& motions,
                const Input& like);

/// Reorders the nodes inside each graph: order[i] (N) is the old row of the new row i.
Batch permute_nodes(const Batch& batch, const Tensor& order, const Schema& schema);
Named permute_nodes(const Named& values, std::span<const Quantity> quantities, const Tensor& order);

}  // namespace weyl
