#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "weyl/saved/predictor.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// The samples, each turned by a rotation of its own: about axis `about`, 0 to 2, or any where there is none. Points in space are
/// turned about the mean of their places, volumes of shapes before they become cells (Dataset::made_anew); labels turn with
/// them. Rotations are drawn from `seed`: the same as of the rows `turned uniformly` and `turned about x`, y and z of
/// measured_when_placed. DataError: they are no points in space, and the set cannot make its samples anew.
std::shared_ptr<const Dataset> turned_samples(const std::shared_ptr<const Dataset>& data,
                                              std::optional<int> about, uint64_t seed,
                                              const std::string& where);

/// What a model says of samples that are turned and shifted before they become cells (Dataset::made_anew): rows `as it is`,
/// `turned 5` to `turned 90` degrees about an axis of its own for each sample, `turned uniformly`, and `shifted 0.5` to `shifted
/// 4` cells in a direction of its own. A shape that has not so much room in its grid is pressed onto the border by the set, which
/// no model undoes: rows of larger shifts are fair where the grid leaves room (data.modelnet.extent). Points in space are
/// turned about the mean of their places, and not shifted; `turned about x`, `y` and `z` are by any angle, for clouds that stand
/// upright along that axis.
///
/// Metrics are the task's, and, where predictions hold the model's outputs, `change_of_logits`: the root mean square of what the model's outputs change by, over that of
/// their distances from their mean over the samples as they are (below 1 a sample changes by less than samples differ); of nets
/// of stages the same after each (`change_of_stage_1`, Model::stage_lengths). Axes and directions are drawn from `seed`, the same
/// for all angles and distances. `where` names the data. ConfigError: there is no task, or the outputs are not scalars of whole
/// samples or of points. With calls.ranks the changes are told on the first rank alone. DataError: the set cannot make its samples anew, and they are no points in space.
Breakdown measured_when_placed(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                               const std::string& where, uint64_t seed, const PredictorCalls& calls = {});

}  // namespace weyl
