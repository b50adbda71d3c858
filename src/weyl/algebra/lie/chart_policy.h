#pragma once

namespace weyl {

/// What attention uses in place of w_ij = log(g_i^-1 g_j) for pairs outside the chart of the logarithm:
///   mask       affine pairs outside the chart are not attended to. Pairs of SO(n) and SE(n) are never masked: only
///              half-turns are outside, and the score is defined and continuous there.
///   frobenius  coordinates are (g - g^-1)/2, and the score uses (|g - 1|^2 + |g^-1 - 1|^2)/2, block by block. Both are
///              defined on the whole group and used for every pair. The coordinates equal the logarithm's to
///              second order, the score to third.
///   polar      A = Q P: coordinates are (t, log Q, log P), and the score uses their squares. Pairs with det A <= 0 are
///              masked. Not antisymmetric.
///   error      a pair outside the chart is an error.
/// (models/lie/options.h has their names in a config.)
enum class ChartPolicy { mask, frobenius, polar, error };

}  // namespace weyl
