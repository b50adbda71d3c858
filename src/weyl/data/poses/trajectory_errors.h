#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "weyl/data/poses/pose_file.h"

namespace weyl {

/// Root mean squares of how far poses are from the true ones: of translations in m, of rotations in degrees.
struct PoseErrors {
  double translation = 0, angle = 0;
};

/// How far an estimated trajectory P_i is from the true one Q_i, as the package `evo` measures it. A translation error is
/// |t(E_i)|, an angle that of the rotation of E_i:
///
///   ape       E_i = Q_i^-1 P_i
///   ape_se3   the same after the rigid motion of the whole estimate that brings its places nearest to the true ones
///             (Umeyama, IEEE Trans. Pattern Anal. Mach. Intell. 13, 376 (1991))
///   ape_sim3  the same with the best scale too, `scale`: of monocular estimates, whose unit is unknown
///   rpe       E_i = (Q_i^-1 Q_i+1)^-1 (P_i^-1 P_i+1), from each pair of poses to the next: the drift
struct TrajectoryErrors {
  int64_t pairs = 0;  // poses that were compared
  PoseErrors ape;
  std::optional<PoseErrors> ape_se3, ape_sim3;  // none where the compared places are all on one line
  double scale = 1;                             // of ape_sim3
  std::optional<PoseErrors> rpe;                // none of one pair
};

constexpr double kSameTime = 0.01;  // seconds between two poses that are compared

/// Compares two trajectories. With times each pose of the one with fewer poses (of two alike, of the estimate) is paired
/// with the nearest in time of the other, the first among equals, if that is at most kSameTime away; without times in one
/// of them, poses are paired in their order. DataError naming both: no pair; without times, different numbers of poses.
TrajectoryErrors trajectory_errors(const PoseTrajectory& truth, const PoseTrajectory& estimate,
                                   const std::string& name_of_truth, const std::string& name_of_estimate);

}  // namespace weyl
