#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/carriers/quantity.h"
#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Two noisy copies of one set of poses, moved by a and b, between which the motion b a^-1 is asked for (task registration):
///
///   g_i      rotation uniform, translation N(0, spread^2), i = 1 .. length
///   a, b     by the same law
///   copy 0   a g_i exp(e_i), in the order of i
///   copy 1   b g_i exp(e'_i), in an order drawn uniformly
///   e, e'    translation N(0, noise^2), rotation N(0, angle_noise^2), each coordinate
///
/// The tokens of copy 0 stand first. Feature `copy`, 0 or 1. Label `pose` (N, m, m): where each token stands in the other copy, b
/// a^-1 times a token of copy 0, a b^-1 times one of copy 1.
struct PoseCopiesMakerOptions {
  static constexpr const char* name_in_config = "pose_copies";
  static constexpr const char* makes =
      "two noisy copies of a set of poses, between which a motion is asked for";
  LieGroup group = LieGroup::se3;
  int64_t train = 5000;
  int64_t valid = 500;
  int64_t test = 500;
  int64_t seed = 0;
  int64_t length = 12;  // poses of the set
  double spread = 1;    // of the translations
  double noise = 0.05, angle_noise = 0.05;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, PoseCopiesMakerOptions& o);
MakerPlan plan_of(const PoseCopiesMakerOptions& o);

/// One sample: (2 length, m, m) row-major, tokens and where they stand in the other copy, and the copy of each token.
struct PoseCopies {
  std::vector<double> tokens, carried, copy;
};

/// Sample `index` of a split, a pure function of (options but sizes and threads, split, index). ConfigError: an affine group.
PoseCopies make_pose_copies(const PoseCopiesMakerOptions& options, std::string_view split, int64_t index);

/// Makes train, valid and test (those of nonzero size) as carrier tensor files `<folder>/<split>.safetensors`; the same bytes
/// for any number of threads. Files that are there already are never replaced (ConfigError), and when one cannot be written
/// (DataError) none of the new ones is left. False when stopped: then nothing was written. ConfigError: an affine group; an
/// option without effect, spread and noise of rotations.
bool make_pose_copies(const PoseCopiesMakerOptions& options, const std::string& folder,
                      const JobHooks& hooks = {});

}  // namespace weyl
