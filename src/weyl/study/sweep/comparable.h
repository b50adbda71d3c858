#pragma once

#include <vector>

#include "weyl/study/sweep/estimate.h"
#include "weyl/study/sweep/runs.h"

namespace weyl {

/// ConfigError for models whose losses would be numbers of different things, as far as configs tell: data of another path,
/// another task, or options of the task that say what its metrics measure (targets, units, regions). Options that say
/// how a system learns or predicts (weights and laws of the training loss, baselines, rotations at test time) are its own.
void require_one_task(const SweepRuns& runs);

/// The same, of what is known once data are open: the metric that is each run's loss where the sweep names none, and the
/// validation and test samples, whose positions and labels must be the same (as `weyl compare` has it); features and
/// training samples may differ. `costs`: of each model.
void require_comparable(const SweepRuns& runs, const std::vector<ModelCost>& costs);

}  // namespace weyl
