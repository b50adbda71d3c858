#pragma once

#include "weyl/carriers/batch.h"

namespace weyl {

/// Elements of a Lie group as tensors of matrices (N, m, m), row by row through algebra/lie/group.h. All
/// results are float64 on the CPU.

/// How far each matrix is from the group (N): the largest entry of R^T R - 1 and of the last row's difference
/// from (0, ..., 0, 1); infinite for a reflection in SO(n) and SE(n), a singular affine map, and what is not
/// finite.
Tensor distances_to_group(LieGroup group, const Tensor& elements);

/// The nearest elements (N, m, m). ShapeError where there is none, naming the row.
Tensor nearest_elements(LieGroup group, const Tensor& elements);

/// Random elements by the group's own law (N, m, m): rotations uniform, translations N(0, spread^2), affine
/// maps R exp(S).
Tensor random_elements(LieGroup group, int64_t count, double spread, Stream& stream);

/// exp of physical coordinates (N, g), as matrices (N, m, m).
Tensor exponentials(LieGroup group, const Tensor& coordinates);

/// Physical coordinates (N, g) of the nearest elements, part by part (algebra/lie/group_list.h): the translation, the
/// logarithms of the nearest rotation and of the stretch that is left (Lie::polar_log). ShapeError as nearest_elements.
Tensor polar_coordinates(LieGroup group, const Tensor& elements);

/// The smallest margin of the chart of the logarithm over relative poses g_i^-1 g_j of matrices (n, m, m) of
/// one graph: all pairs up to 256 tokens, else neighbours alone. Infinite without a pair.
double least_chart_margin(LieGroup group, const Tensor& elements);

/// The left multiplication by one element (m, m) per graph as a motion of space, x -> A x + t.
Motions motions_of(LieGroup group, const Tensor& elements);

}  // namespace weyl
