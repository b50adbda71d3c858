#pragma once

#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"

namespace weyl {

/// How the input features of an Interface become columns of every node: node features as they stand, object-
/// and graph-level ones repeated on each of their nodes. Order: scalars of one-hot types, then node, object
/// and graph level, each in the order of the interface; vectors likewise.
struct InputColumns {
  int64_t types = 0;          // T, one-hot columns, first among the scalars
  std::vector<bool> scalars;  // S (types included): true for a pseudoscalar, det(R) s
  std::vector<bool> vectors;  // V: true for an axial vector, det(R) R v
  int64_t scalar_count() const { return static_cast<int64_t>(scalars.size()); }
  int64_t vector_count() const { return static_cast<int64_t>(vectors.size()); }
};

/// ConfigError for a feature that has no such columns (pairs, tensors, categories beside `types`, elements),
/// in the name of `system`.
InputColumns input_columns(const Interface& interface, const char* system);

/// The columns of a batch: scalars (N, S) and vectors (N, V, D), undefined when there are none. A vector of
/// role `point` is given relative to its node's position, so it does not move with translations.
struct InputValues {
  Tensor scalars, vectors;
};
InputValues input_values(const Points& points, const Interface& interface);

}  // namespace weyl
