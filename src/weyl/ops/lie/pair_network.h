#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/algebra/lie/score_activation.h"

namespace weyl::lie {

using at::Tensor;

/// A small network for each head h on the coordinates of each present pair p, g ReLU (derivative 0 at 0) or the
/// exact GELU:
///   y_ph = second_h . g(first_h w_p + first_bias_h) + second_bias_h,   0 for pairs that are not present.
///
/// w (P, E), present (P) bool, first (H M, E), first_bias (H M), second (H, M), second_bias (H) -> (P, H),
/// head by head in memory. float32 and float64 on the CPU, with E of a Lie algebra (1, 3, 6, 12), never hold
/// the hidden numbers (P, H M) in memory; other devices, E and second derivatives do. Differentiable to any
/// order by all but present; the same bits each time for a given number of threads. ShapeError unless shapes
/// and dtypes agree.
Tensor pair_network(const Tensor& w, const Tensor& present, const Tensor& first, const Tensor& first_bias,
                    const Tensor& second, const Tensor& second_bias, ScoreActivation activation);

}  // namespace weyl::lie
