#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/data/bodies/body.h"
#include "weyl/data/bodies/rigid_scenes.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// What bodies collide as: convex hulls, or the box around each (12 triangles).
enum class BodyDetail { hull, box };
constexpr auto names_of(BodyDetail) {
  return std::array<std::string_view, 2>{"hull", "box"};
}

/// Rigid bodies that fall onto a floor and collide: MOVi-B (Greff et al., Kubric, CVPR 2022) as the study of Brehmer et
/// al., "Does equivariance matter at scale?", uses it, simulated by Bullet (bodies/rigid_world.h) at 240 Hz, a
/// frame every five steps (48 Hz).
///
/// A scene has a number of objects uniform in `objects`; each has a shape of `shapes` and `meshes`, all alike; a scale in
/// [0.7, 1.4]; and one of two materials: metal (friction 0.4, restitution 0.3, density 2.7) or rubber (0.8, 0.7,
/// 1.1). Its mass is that of the shape (density 1, scale 1) times density times scale^3. One after the other they
/// are turned by a uniform rotation and put at a uniform place so that their bounds lie in x, y in [-5, 5], z in [1, 5], up to
/// 100 times until they touch none before them; they begin with the velocity (u - x, v - y, 0), u and v uniform in
/// [-4, 4], and do not spin. A scene in which an object finds no place is drawn anew, up to 20 times.
///
/// A scene is a function of (options but sizes and threads, split, index), to the bit on one machine.
struct RigidBodiesMakerOptions {
  static constexpr const char* name_in_config = "rigid_bodies";
  static constexpr const char* makes = "rigid bodies that fall and collide, by Bullet (MOVi-B)";
  int64_t train = 1000;
  int64_t valid = 100;
  int64_t test = 100;
  int64_t seed = 0;
  std::vector<int64_t> objects{3, 10};
  std::vector<std::string> shapes{"cube",       "cylinder", "sphere", "cone",   "torus",  "gear",
                                  "torus_knot", "sponge",   "spot",   "teapot", "suzanne"};
  std::vector<std::string> meshes;  // files; further shapes
  double scale = 1;                 // metres of one unit of the files' lengths
  BodyDetail detail = BodyDetail::hull;
  int64_t frames = rigid_scene_frames;
  int64_t threads = 0;  // 0: one per core
};
void fields(Fields& f, RigidBodiesMakerOptions& o);
MakerPlan plan_of(const RigidBodiesMakerOptions& o);

/// Makes train, valid and test (those of nonzero size) as `<folder>/<split>.safetensors` (data/bodies/rigid_scenes.h) and
/// rigid_bodies.toml with the options; the same bytes for any number of threads. While it works, scenes that are done stand
/// in `<folder>.partial`, from which the same call goes on after a stop; files in `folder` appear when all scenes are made. Files that are
/// there already are never replaced (ConfigError). False when stopped. ConfigError: nothing to make, objects that are
/// not two numbers in order, a shape of no known name, no Bullet, a folder begun with other options, a scene that 20 draws
/// do not give. DataError: a mesh that cannot be read (data/clouds/mesh_file.h) or encloses nothing, a file that cannot
/// be written.
bool make_rigid_bodies(const RigidBodiesMakerOptions& options, const std::string& folder,
                       const JobHooks& hooks = {});

/// Steps of the simulation from frame to frame.
constexpr int64_t rigid_steps_per_frame = 5;

/// The shapes that the options name, in their order: of `shapes`, then of `meshes`; boxes with detail = "box". Errors as
/// make_rigid_bodies.
std::vector<BodyShape> body_shapes(const RigidBodiesMakerOptions& options);

/// Scene `index` of a split; `shapes` are body_shapes(options). Frame 0 is the beginning, frame k is after 5 k steps.
/// Returns early, with a scene that is of no use, once `stopped` is true.
RigidScene make_rigid_scene(const RigidBodiesMakerOptions& options, const std::vector<BodyShape>& shapes,
                            std::string_view split, int64_t index,
                            const std::atomic<bool>* stopped = nullptr);

}  // namespace weyl
