#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "weyl/saved/predictor.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// What a model says of samples that are turned and shifted before they become cells (Dataset::made_anew): rows `as it is`,
/// `turned 5` to `turned 90` degrees about an axis of its own for each sample, `turned uniformly`, and `shifted 0.5` to `shifted
/// 4` cells in a direction of its own. Metrics are the task's, and `change_of_logits`: the root mean square of what the model's
/// outputs change by, over that of their distances from their mean over the samples as they are (below 1 it changes a sample by less than
/// samples differ); of nets of stages the same after each (`change_of_stage_1`, Model::stage_lengths). Axes and directions are drawn from `seed`, the same for all angles and distances. `where` names the data.
/// ConfigError: there is no task, or the outputs are not scalars of whole samples. DataError: the set cannot make its samples anew.
Breakdown measured_when_placed(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                               const std::string& where, uint64_t seed, const PredictorCalls& calls = {});

}  // namespace weyl
