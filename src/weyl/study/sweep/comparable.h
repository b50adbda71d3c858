#pragma once

#include <string>
#include <vector>

#include "weyl/study/sweep/estimate.h"
#include "weyl/study/sweep/runs.h"

namespace weyl {

/// ConfigError for models whose losses would be numbers of different things, as far as configs tell: data of another path,
/// another task, or options of the task that say what its metrics measure (targets, units, regions; where the loss is the
/// mean over several targets, what its units are by). Options that say how a system learns or predicts (weights and
/// laws of the training loss, baselines, rotations at test time) are its own.
void require_one_task(const SweepRuns& runs);

/// The same, of what is known once data are open: the metric that is each run's loss where the sweep names none, and the
/// validation and test samples, of which there must be as many, with the same labels; how they are seen (points or a
/// grid, places, features) may differ, and so may training samples unless the loss is in units of their spread. `costs`: of
/// each model. Returns what is to be said of test samples of as many tokens that stand elsewhere.
std::vector<std::string> require_comparable(const SweepRuns& runs, const std::vector<ModelCost>& costs);

}  // namespace weyl
