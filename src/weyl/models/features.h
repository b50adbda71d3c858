#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"
#include "weyl/ops/edges/nearest.h"

namespace weyl {

/// The columns that the input features of an Interface become at every node. A node's features stand as they are; those
/// of an object or a graph are repeated on each of its nodes. The order of scalars: one-hot types, then node, object
/// and graph level, each in the order of the interface. Vectors are ordered likewise.
struct InputColumns {
  int64_t types = 0;          // T, one-hot columns, first among the scalars
  std::vector<bool> scalars;  // S (types included): true for a pseudoscalar, det(R) s
  std::vector<bool> vectors;  // V: true for an axial vector, det(R) R v
  int64_t scalar_count() const { return static_cast<int64_t>(scalars.size()); }
  int64_t vector_count() const { return static_cast<int64_t>(vectors.size()); }
};

/// ConfigError, in the name of `system`, for a feature that cannot become columns: pairs, tensors, categories beside
/// `types`, elements. Scalars of pairs, which are no columns, are let pass where the system reads them by itself.
InputColumns input_columns(const Interface& interface, const char* system, bool reads_pairs = false);

/// The columns of a batch: scalars (N, S) and vectors (N, V, D), undefined when there are none. A vector of
/// role `point` is given relative to its node's position, so it does not move with translations.
struct InputValues {
  Tensor scalars, vectors;
};
InputValues input_values(const Points& points, const Interface& interface);

/// Positions (N, D) minus the mean of those of their graph, of which images of atoms (real_nodes) are no part. Computed in
/// float64 and rounded once: in float32 the mean of far positions would lose what tells them apart.
Tensor centred_positions(const Points& points, const Interface& interface);

// The option `nearest` of systems whose nodes attend to all of their graph: to themselves and so many of the nearest others alone.

/// Whom the nodes attend to (ops/edges/nearest.h), found once a forward pass; nothing with nearest = 0. `table`: "model.gatr".
/// DataError where the input has no positions (Points::placed).
std::optional<NearestNodes> nearest_of(const Points& points, int64_t nearest, const char* table);
/// Of so many nodes of a graph those that a node attends to, but for such as are as near as the last of them.
double nodes_seen(double graph_nodes, int64_t nearest);
/// What Model::warnings say of it: outputs jump where another node comes to be one of the nearest.
std::vector<std::string> warnings_of_nearest(int64_t nearest, const char* table,
                                             std::string_view differentiated_by);

}  // namespace weyl
