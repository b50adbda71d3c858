#pragma once

#include <memory>
#include <string>

#include "weyl/core/atomic_file.h"
#include "weyl/data/poses/options.h"
#include "weyl/saved/predictor.h"

namespace weyl {

/// Reads the trajectory that is to be written changed as `out`. ConfigError: `out` is no TUM nor KITTI, or TUM of a trajectory
/// without times; `path` is no trajectory of text. DataError: see read_poses.
PoseTrajectory trajectory_to_change(const std::string& path, const std::string& out, RepeatedTimes repeated);

/// What predict_trajectory wrote.
struct FilledTrajectory {
  int64_t poses = 0;   // including the one that was missing
  int64_t place = -1;  // its index among them; -1: nothing is missing, by a model that can say so
  int64_t agree =
      0;  // of the `look` windows that have the poses on both sides of it, those that put it there
  int64_t look = 0;
  bool stopped = false;  // nothing is written
};

/// Fills the gap of a trajectory of text (data/poses/pose_file.h) with a model of the task completion. Longer ones than `window` poses, as many as
/// the model's training samples had, are looked at in all their windows of so many, and the place that most of those who see it are sure of is the gap's. In a window the
/// missing pose is put beside the pose whose logit `gap`, that a pose is next to the gap, is largest, for the answer is that pose's: before
/// or behind it, where that neighbour is the nearer one to the answer. `data`, the whole trajectory as one sample, must have been read with the same `repeated`.
///
/// The whole trajectory is written with the new pose (without, where nothing is missing), as TUM or KITTI by the ending of `out`. All timestamps of the
/// input are kept; the new pose's is the middle of its neighbours'.
///
/// ConfigError: the model has other predictions, or a group other than se3; see trajectory_to_change. DataError: see there; fewer than 2 poses; a
/// prediction that is not finite; no time between two timestamps.
FilledTrajectory predict_trajectory(const Predictor& predictor, const std::shared_ptr<const Dataset>& data,
                                    int64_t window, RepeatedTimes repeated, const std::string& path,
                                    const std::string& out, Existing existing = Existing::keep,
                                    const PredictorCalls& calls = {});

/// What correct_trajectory wrote.
struct CorrectedTrajectory {
  int64_t poses = 0;     // in the file
  int64_t ahead = 0;     // of them the last are forecast
  bool stopped = false;  // nothing is written
};

/// Corrects a trajectory of text (`found`, of the file `path`: trajectory_to_change) with a model of the task pose_correction on windows as `windows` say (length, ahead).
///
///   ahead > 0   the poses that follow the last length - ahead of the file, at their mean interval, stand behind the
///               others, which stay as they are
///   ahead = 0   each pose becomes what the model says of it in the window of `length` poses, of those that begin every quarter
///               of a window, in whose middle it is nearest
///
/// Written as TUM or KITTI by the ending of `out`; timestamps stay, and go on by the interval. ConfigError: a group other than
/// se3; features other than `time` and `asked`; more than one model that says
/// elements. DataError: fewer than two poses to look ahead from; a prediction that is not finite.
CorrectedTrajectory correct_trajectory(const Predictor& predictor, const PoseWindowsDataOptions& windows,
                                       PoseTrajectory found, const std::string& path, const std::string& out,
                                       Existing existing = Existing::keep, const PredictorCalls& calls = {});

/// Whether a model is one for correct_trajectory: it predicts the pose of each token.
bool corrects_poses(const Predictor& predictor);

/// Whether a path has an ending of a trajectory that can be written: .tum, .kitti.
bool is_written_trajectory(std::string_view path);

}  // namespace weyl
