#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/clouds/turning.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Machine parts of several solids (shapes/solids.h), as point clouds with the kind of the solid that each point lies on: what
/// a segmentation of points learns. A part begins with one solid; each further one has a kind of its own and a random size, is
/// turned about the upward axis z, and is stuck to one that is there from a random direction, so that their surfaces run into
/// one another. Points lie evenly on the surfaces of all solids, those inside of others too. Each cloud is moved and scaled into
/// the ball of radius 1, then turned. Sample i of a split is a pure function of (seed, split, i).
struct PartsMakerOptions {
  static constexpr const char* name_in_config = "parts";
  static constexpr const char* makes =
      "machine parts of several solids, as point clouds with a label of each point";
  int64_t train = 400;
  int64_t valid = 50;
  int64_t test = 100;
  int64_t seed = 0;
  int64_t solids = 3;  // of a part
  int64_t points = 512;
  double noise = 0.01;             // of the points, in radii of the ball
  Turning rotate = Turning::none;  // of the samples
  int64_t threads = 0;             // 0: one per core
};
void fields(Fields& f, PartsMakerOptions& o);
MakerPlan plan_of(const PartsMakerOptions& o);

/// The points of one sample and the kind of each one's solid, by its number in solid_names.
struct PartCloud {
  std::vector<float> positions;  // (P, 3)
  std::vector<uint8_t> kinds;    // (P)
};
PartCloud make_part(const PartsMakerOptions& options, std::string_view split, int64_t index);

/// Makes the splits of nonzero size as `<folder>/<split>.npz` with `positions` (B, P, 3) float32 and `part` (B, P) u8, which the
/// set `clouds` reads with point_label = "part". Files that are there already are never replaced (ConfigError). False when
/// stopped: then nothing was written.
bool make_parts(const PartsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl
