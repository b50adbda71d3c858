#pragma once

#include <optional>
#include <vector>

#include "weyl/study/scaling/system_fit.h"

namespace weyl {

/// Logarithms of runs, each counting once, and their passes beyond the first where all say their unique tokens.
LogRuns log_runs(const std::vector<ScalingRun>& runs);

/// Some run has seen its data more than once.
bool has_repetition(const std::vector<ScalingRun>& runs);

/// Fits A, alpha, B, beta, R and the E of the point fit's form, with effective tokens in place of tokens (objective.h).
/// Says in `left_out` why there is none: runs that do not tell their unique tokens, too few of them, or passes that these
/// losses do not tell from new data (then R has no upper end).
std::optional<RepetitionFit> fit_repetition(const std::vector<ScalingRun>& runs, const PointFit& fit,
                                            const Bootstrap& bootstrap, std::vector<LeftOut>& left_out);

}  // namespace weyl
