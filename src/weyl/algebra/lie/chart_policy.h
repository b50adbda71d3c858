#pragma once

namespace weyl {

/// What stands for w_ij = log(g_i^-1 g_j) in attention where the chart of the logarithm ends.
///   mask      affine pairs outside the chart are not attended to. SO(n) and SE(n) are never masked: only
///             half-turns are outside, where the score is still defined and continuous.
///   frobenius score from (|g - 1|^2 + |g^-1 - 1|^2)/2 block by block, coordinates (g - g^-1)/2: defined on
///             the whole group, for every pair, and equal to the logarithm's to third and second order.
///   polar     A = Q P: coordinates (t, log Q, log P), score their squares; pairs with det A <= 0 are masked.
///             Not antisymmetric.
///   error     a pair outside the chart is an error.
/// (Their names in a config are in models/lie/options.h.)
enum class ChartPolicy { mask, frobenius, polar, error };

}  // namespace weyl
