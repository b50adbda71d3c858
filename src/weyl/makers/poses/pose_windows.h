#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/data/poses/asked_poses.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Bodies that move for a while, seen at uneven times, of which the last poses or all are asked for (poses/asked_poses.h):
///
///   g_0         by the group's own law, translation N(0, spread^2)
///   t           intervals uniform in 0.5 .. 1.5
///   g_k+1       g_k exp((t_k+1 - t_k) v(s)), s = the middle of the two times over the whole time, in 0 .. 1
///   class 0     steady: v = a
///   class 1     speeding up: v = a (1 + b s), b uniform in 0.5 .. 1.5
///   class 2     weaving: v = a + c sin(2 pi (f s + q)), f uniform in 1 .. 2, q in 0 .. 1
///   a, c        translation N(0, step^2), rotation uniform in the ball of radius pi / (4 n) with n poses, so that no
///               relative pose reaches a half-turn
///   noise       of the poses that are given: g exp(e), translation N(0, noise^2), rotation N(0, angle_noise^2)
///
/// Classes are drawn alike. Labels: `pose` (N, m, m), `class` (B, 1), and `speed` (B, 1), the mean of |v|, lengths and
/// radians in one, over the intervals.
struct PoseWindowsMakerOptions {
  static constexpr const char* name_in_config = "pose_windows";
  static constexpr const char* makes = "moving bodies whose next, or true, poses are asked for";
  LieGroup group = LieGroup::se3;
  int64_t train = 5000;
  int64_t valid = 500;
  int64_t test = 500;
  int64_t seed = 0;
  int64_t length = 12;  // poses, those that are asked for included
  int64_t ahead = 4;    // of them the last are asked for; 0: all
  double spread = 3;    // of the translation of the first pose
  double step = 0.3;    // of the translation in a unit of time
  double noise = 0.05, angle_noise = 0.02;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, PoseWindowsMakerOptions& o);
MakerPlan plan_of(const PoseWindowsMakerOptions& o);

/// One window and what it is of.
struct PoseWindow {
  AskedPoses poses;
  int64_t motion = 0;  // the class
  double speed = 0;
};

/// Sample `index` of a split, a pure function of (options but sizes and threads, split, index). ConfigError: see
/// make_pose_windows.
PoseWindow make_pose_window(const PoseWindowsMakerOptions& options, std::string_view split, int64_t index);

/// Makes train, valid and test (those of nonzero size) as carrier tensor files `<folder>/<split>.safetensors`; the same bytes
/// for any number of threads. Files that are there already are never replaced (ConfigError), and when one cannot be written
/// (DataError) none of the new ones is left. False when stopped: then nothing was written. ConfigError: an affine group; fewer
/// than two poses to look ahead from; an option without effect, spread, step and noise of rotations.
bool make_pose_windows(const PoseWindowsMakerOptions& options, const std::string& folder,
                       const JobHooks& hooks = {});

}  // namespace weyl
