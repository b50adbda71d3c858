#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// The classes of `solids`, in the order of their numbers (alphabetical, as folders of ModelNet are).
constexpr std::array<std::string_view, 10> solid_names{
    "box", "capsule", "cone", "cross_prism", "cylinder", "l_prism", "pyramid", "sphere", "torus", "tube"};

/// One shape of a class around the axis z, with sizes drawn from the stream: ellipsoids, boxes, elliptic
/// cylinders, cones (cut off or not), tori, pyramids (cut off or not), tubes, capsules, prisms over an L and
/// over a cross. Closed surfaces; where a prism's caps are cut into rectangles their edges do not meet.
Mesh solid_shape(int64_t kind, Stream& stream);

enum class SolidsFormat { hdf5, off };
constexpr std::array<std::string_view, 2> solids_format_names{"hdf5", "off"};
constexpr const auto& names_of(SolidsFormat) {
  return solids_format_names;
}

/// Analytic solids of ten classes (shapes/solids.h) with sizes drawn at random, in the layouts of
/// ModelNet: HDF5 with `points` points of each surface (train0.h5, test0.h5; y upwards), or meshes
/// (CLASS/train/CLASS_0001.off; z upwards). The same shapes in both, sample i is of class i mod 10. Each is
/// moved and scaled into the ball of radius 1.
struct SolidsMakerOptions {
  static constexpr const char* name_in_config = "solids";
  static constexpr const char* makes =
      "analytic solids of ten classes, as point clouds or meshes in the layouts of ModelNet";
  int64_t train = 1000;
  int64_t test = 300;
  int64_t seed = 0;
  int64_t points = 2048;
  double noise = 0.01;             // of the points, in radii of the ball; meshes have none
  Turning rotate = Turning::none;  // of the samples
  SolidsFormat format = SolidsFormat::hdf5;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, SolidsMakerOptions& o);
MakerPlan plan_of(const SolidsMakerOptions& o);

/// Sample `index` of a split with z upwards, turned as the options say: a pure function of (seed, rotate,
/// split, index).
Mesh make_solid(const SolidsMakerOptions& options, std::string_view split, int64_t index);
/// Points (P, 3) of its surface with noise, y upwards.
std::vector<float> make_solid_points(const SolidsMakerOptions& options, std::string_view split,
                                     int64_t index);

/// Makes the splits of nonzero size; files that are there already are never replaced (ConfigError). False
/// when stopped: then nothing was written. DataError: a file cannot be written; then none of the new ones is
/// left.
bool make_solids(const SolidsMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

}  // namespace weyl
