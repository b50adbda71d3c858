#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// y_s = sum of x_i over the rows i of segment s: x (N, ...) -> (B, ...), zeros for an empty segment.
Tensor segment_sum(const Tensor& x, const Segments& segments);

/// y_s = the mean of x_i over the rows of segment s: (N, ...) -> (B, ...), zeros for an empty segment.
Tensor segment_mean(const Tensor& x, const Segments& segments);

/// y_i = exp(x_i) / sum of exp(x_j) over the rows j of i's segment, column by column: (N, ...) -> (N, ...).
Tensor segment_softmax(const Tensor& x, const Segments& segments);

/// Softmax with weights that may vanish:
///   y_i = w_i exp(x_i) / (epsilon + sum of w_j exp(x_j)),   x (N, ...), w (N) >= 0, epsilon > 0.
/// When the weight of a row goes to zero (at a cutoff), the other rows' shares change as smoothly as the weight.
/// epsilon is the weight of an additional row of score 0 that passes nothing on. Nothing overflows, whatever the
/// scores: the score of a row without weight, on which only the derivative by that weight depends, counts as at most
/// 16 above the largest of the others.
Tensor segment_softmax(const Tensor& x, const Segments& segments, const Tensor& weights, double epsilon);

/// y_s = log of the sum of exp(x_i) over the rows i of segment s: (N, ...) -> (B, ...); -infinity for an
/// empty segment and for one of -infinity alone.
Tensor segment_logsumexp(const Tensor& x, const Segments& segments);

// All take any floating dtype (segment_sum: integers too) on any device, and are differentiable to any order.
// ShapeError unless x has segments.rows() rows.

}  // namespace weyl
