#pragma once

#include <vector>

#include "weyl/carriers/points.h"
#include "weyl/carriers/quantity.h"

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

}  // namespace weyl
