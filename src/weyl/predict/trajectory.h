#pragma once

#include <memory>
#include <string>

#include "weyl/core/atomic_file.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// What was written of a trajectory.
struct FilledTrajectory {
  int64_t poses = 0;   // with the one that was missing
  int64_t place = -1;  // its index among them; -1: stopped, nothing is written
};

/// Fills the gap of a trajectory of text (data/formats/pose_file.h) by a model of the task completion: the missing pose stands
/// between the two poses that follow one another in the file and of which the model's `gap` says together that they flank
/// it (the largest sum of their logits; it may say so of others, and then the place is its best of these). Written is the
/// whole trajectory with it, as TUM or KITTI by the ending of `out`, all timestamps of the input kept and that of the missing pose
/// in the middle of its neighbours'. ConfigError: a model of other predictions or of another group than se3, an `out` of
/// another ending, TUM of a trajectory that has no times, `path` no trajectory of text. DataError: see read_poses;
/// fewer than 2 poses, a prediction that is not finite, no time between two timestamps.
FilledTrajectory predict_trajectory(const Predictor& predictor, std::shared_ptr<const Dataset> data,
                                    const std::string& path, const std::string& out,
                                    Existing existing = Existing::keep, const PredictorCalls& calls = {});

/// Whether a path ends as what can be written: .tum, .kitti.
bool is_written_trajectory(std::string_view path);

}  // namespace weyl
