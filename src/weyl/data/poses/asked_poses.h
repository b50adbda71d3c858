#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/axis.h"
#include "weyl/core/random.h"
#include "weyl/data/poses/pose_file.h"

namespace weyl {

/// Standard deviations of noise g exp(e), in physical coordinates of e: of translations, in the unit of length, and of all
/// others (radians; of affine maps exponents too).
struct PoseNoise {
  double length = 0, angle = 0;
};

/// A window of poses in their order, of which some are asked for: what task pose_correction learns, and `make
/// pose_windows`, `convert ... ahead=` and the set pose_windows give. m x m matrices, row-major.
struct AskedPoses {
  std::vector<double> tokens;  // (n, m, m), what a model is given
  std::vector<double> truth;   // (n, m, m), the poses themselves
  std::vector<double> time;    // (n), since the last pose that is given
  std::vector<double> asked;   // (n), 1 where the pose is asked for, else 0
};

/// Asks for the last `ahead` of n poses (n, m, m) at `times` (n), or with ahead = 0 for all of them. Poses that are given
/// have noise, drawn from the stream; one that lies ahead stands where a constant velocity in the group leads,
///
///   g_l exp((t - t_l) v),   v = log(g_k^-1 g_l) / (t_l - t_k)
///
/// with the last two that are given, k and l, as the model sees them; v = 0 where their times are the same or their
/// logarithm does not exist (affine maps). ShapeError: fewer than two poses are given to look ahead from; sizes that do not
/// fit; matrices off the group.
AskedPoses ask_poses(LieGroup group, std::span<const double> poses, std::span<const double> times,
                     int64_t ahead, const PoseNoise& noise, Stream& stream);

/// The poses of a trajectory in a group of its own.
struct PosesInGroup {
  std::vector<double> matrices;  // (n, m, m)
  double tilt = 0;               // radians: the most that the body's own up leans from `up`; 0 in space
};

/// se3: as they are; so3: their rotations; se2 and so2: what is left of them on the plane across `up`, whose two axes
/// follow `up` (x y for z, z x for y, y z for x): the translation, and the heading, the rotation of the plane nearest to R.
/// ConfigError naming `where`: an affine group. DataError naming the pose too: it lies on its side or on its back, a
/// quarter turn or more, so that it has no heading.
PosesInGroup poses_in(const PoseTrajectory& trajectory, LieGroup group, Axis up, const std::string& where);

}  // namespace weyl
