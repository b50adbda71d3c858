#pragma once

#include <vector>

#include "weyl/carriers/batch.h"

namespace weyl {

/// The graphs of a Points or Poses; ShapeError for a Grid, which has none.
const Segments& graphs_of(const Input& input);

/// Rows that a quantity of this level has in the input: N nodes, sum n^2 pairs, objects, or B graphs. For a
/// Grid, node and graph level have B rows (a node quantity keeps its spatial axes).
int64_t rows_of(const Input& input, Level level);
int64_t rows_of(const Points& points, Level level);

/// The graph of each of those rows, (L) int64, on the input's device.
Tensor graph_of_rows(const Input& input, Level level);

/// D of the input: columns of positions, n of the Lie group, spatial axes of the grid.
int64_t dimension_of(const Input& input);

/// The shape of a named tensor with L rows: scalars, pseudoscalars and categories (L, c), vectors (L, c, D),
/// axial vectors the same (in 2-D one number: (L, c)), symmetric tensors (L, c, D, D), multivectors (L, c, 16), elements
/// (L, m, m); of node level on a Grid (B, c * components, spatial axes). ShapeError for more than one channel of
/// elements, and for multivectors of another space than that of three dimensions.
std::vector<int64_t> shape_of(const Quantity& quantity, const Input& input);
/// The same of any kind but elements, off a grid.
std::vector<int64_t> shape_of(const Quantity& quantity, int64_t rows, int64_t dimension);

/// The columns [begin, end) of one feature in the carrier's tensor of scalars, vectors or multivectors.
struct Columns {
  const Quantity* quantity;
  int64_t begin, end;
};

/// Where each feature of a level stands, in the order of Interface::features: scalars and pseudoscalars one
/// after the other in `scalars` (or `pairs`), vectors and axial vectors in `vectors`, multivectors in `multivectors`.
/// Valid as long as `interface` lives.
std::vector<Columns> scalar_columns(const Interface& interface, Level level);
std::vector<Columns> vector_columns(const Interface& interface, Level level);
std::vector<Columns> multivector_columns(const Interface& interface, Level level);

}  // namespace weyl
