#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/segments.h"

namespace weyl::lie {

/// Logarithms and how far inside their chart they are (Lie::chart_margin).
struct Logs {
  Tensor w;       // (rows, dof), physical coordinates; 0 outside the chart of an affine group
  Tensor margin;  // (rows), without gradient
};

/// w_k = log(a_k^-1 b_k) for a, b (N, c) in compact storage. At a half-turn it is one of the two logarithms.
Logs logs(const Tensor& a, const Tensor& b, LieGroup group);

/// w_ij = log(g_i^-1 g_j) of all ordered pairs of each graph, for compact (N, c): P = sum n^2 rows in the order of
/// all_pairs (ops/edges/edges.h). w_ii is exactly 0. In memory the rows may lie coordinate by coordinate.
Logs pair_logs(const Tensor& compact, const Segments& graphs, LieGroup group);

// Both take float32 or float64, on any device. They are differentiable to any order (Aff(3): to third), with first and
// second derivatives finite everywhere inside the chart, also at the identity, and zero outside the chart of an affine
// group. Rotations are normalised first. Every pair with an affine map that is singular to rounding is outside the
// chart, with margin -1. NaN gives NaN. Where no input needs a gradient, nothing is kept. ShapeError unless shapes and
// dtypes agree, and for a rotation of norm 0, naming its row.

}  // namespace weyl::lie
