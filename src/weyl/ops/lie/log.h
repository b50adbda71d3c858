#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/segments.h"

namespace weyl::lie {

/// Logarithms and how far inside their chart they are (Lie::chart_margin).
struct Logs {
  Tensor w;       // (rows, dof), physical coordinates; 0 outside the chart of an affine group
  Tensor margin;  // (rows), without gradient
};

/// w_k = log(a_k^-1 b_k): a, b (N, c) in compact storage. At a half-turn, one of its two logarithms.
Logs logs(const Tensor& a, const Tensor& b, LieGroup group);

/// w_ij = log(g_i^-1 g_j) of all ordered pairs of each graph, P = sum n^2 rows in the order of all_pairs
/// (ops/edges/edges.h); w_ii is exactly 0. compact (N, c). Rows may lie in memory coordinate by coordinate.
Logs pair_logs(const Tensor& compact, const Segments& graphs, LieGroup group);

// Both: float32 or float64, any device, differentiable to any order (Aff(3): to third), with first and second
// derivatives finite everywhere inside the chart, also at the identity; zero outside the chart of an affine
// group. Rotations are normalised first. Every pair with an affine map that is singular to rounding is
// outside the chart, with margin -1. Of NaN comes NaN. Without inputs that need gradients nothing is kept.
// ShapeError unless shapes and dtypes agree, and for a rotation of norm 0, by its row.

}  // namespace weyl::lie
