#include "weyl/data/makers/rigid_scene.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "weyl/core/check.h"
#include "weyl/core/nearest.h"
#include "weyl/core/random.h"
#include "weyl/data/formats/mesh_file.h"
#include "weyl/data/makers/body_families.h"
#include "weyl/data/makers/rigid_world.h"

namespace weyl {
namespace {

using ScenePlace = std::array<double, 3>;
using Quaternion = std::array<double, 4>;

constexpr int kScenes = 20, kTrials = 100;  // draws of a scene, of a place
constexpr ScenePlace kLow{-5, -5, 1}, kHigh{5, 5, 5};
constexpr double kSmallest = 0.7, kLargest = 1.4, kSpread = 4;

struct Material {
  double friction, restitution, density;
};
constexpr Material kMetal{0.4, 0.3, 2.7}, kRubber{0.8, 0.7, 1.1};

/// A uniform rotation from three uniform numbers (Shoemake, 1992).
Quaternion draw_quaternion(Stream& stream) {
  const double u = stream.uniform(), a = 2 * std::numbers::pi * stream.uniform(),
               b = 2 * std::numbers::pi * stream.uniform();
  const double s = std::sqrt(1 - u), c = std::sqrt(u);
  return {s * std::sin(a), s * std::cos(a), c * std::sin(b), c * std::cos(b)};
}

ScenePlace rotated(const Quaternion& q, const ScenePlace& v) {
  const auto [x, y, z, w] = q;
  const ScenePlace t{2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])};
  return {v[0] + w * t[0] + y * t[2] - z * t[1], v[1] + w * t[1] + z * t[0] - x * t[2],
          v[2] + w * t[2] + x * t[1] - y * t[0]};
}

/// The box around a turned box of a scale.
std::array<double, 6> turned(const std::array<double, 6>& box, double scale, const Quaternion& q) {
  std::array<double, 6> result{INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY};
  for (int corner = 0; corner < 8; ++corner) {
    ScenePlace p;
    for (int d = 0; d < 3; ++d) {
      p[d] = scale * box[(corner >> d & 1) * 3 + d];
    }
    p = rotated(q, p);
    for (int d = 0; d < 3; ++d) {
      result[d] = std::min(result[d], p[d]);
      result[3 + d] = std::max(result[3 + d], p[d]);
    }
  }
  return result;
}

/// Adds an object that is drawn from the stream; false when it finds no place.
bool add_object(RigidWorld& world, const std::vector<BodyShape>& shapes, Stream& stream, RigidScene& scene) {
  RigidObject object;
  object.shape = stream.below(static_cast<int64_t>(shapes.size()));
  object.scale = kSmallest + (kLargest - kSmallest) * stream.uniform();
  const Material& material = stream.uniform() < 0.5 ? kMetal : kRubber;
  const BodyShape& shape = shapes[object.shape];
  object.mass = shape.mass * material.density * std::pow(object.scale, 3);
  object.friction = material.friction;
  object.restitution = material.restitution;
  world.add(shape, {object.scale, object.mass, object.friction, object.restitution});
  const auto bounds = bounds_of(shape);
  for (int trial = 0; trial < kTrials; ++trial) {
    const Quaternion q = draw_quaternion(stream);
    const auto box = turned(bounds, object.scale, q);
    ScenePlace position;
    bool fits = true;
    for (int d = 0; d < 3; ++d) {
      const double low = kLow[d] - box[d], high = kHigh[d] - box[3 + d];
      fits = fits && low <= high;
      position[d] = low + (high - low) * stream.uniform();
    }
    if (fits && world.place(position, q)) {
      const double u = kSpread * (2 * stream.uniform() - 1), v = kSpread * (2 * stream.uniform() - 1);
      world.set_velocity(static_cast<int64_t>(scene.objects.size()), {u - position[0], v - position[1], 0},
                         {});
      scene.objects.push_back(object);
      return true;
    }
  }
  return false;
}

bool is_set(const std::atomic<bool>* stopped) {
  return stopped != nullptr && *stopped;
}

/// Goes through the frames of a world and records them, until stopped.
void record(RigidWorld& world, int64_t frames, const std::atomic<bool>* stopped, RigidScene& scene) {
  const auto count = static_cast<int64_t>(scene.objects.size());
  scene.poses.resize(count * frames * 7);
  scene.contacts.resize(count * frames);
  for (int64_t frame = 0; frame < frames && !is_set(stopped); ++frame) {
    for (int64_t step = 0; frame > 0 && step < rigid_steps_per_frame; ++step) {
      world.step();
      for (int64_t i = 0; i < count; ++i) {
        scene.contacts[i * frames + frame] |= world.touched(i);
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      const BodyState state = world.state(i);
      float* pose = &scene.poses[(i * frames + frame) * 7];
      pose = std::ranges::transform(state.position, pose, [](double x) { return static_cast<float>(x); }).out;
      std::ranges::transform(state.quaternion, pose, [](double x) { return static_cast<float>(x); });
    }
  }
}

}  // namespace

std::vector<BodyShape> body_shapes(const RigidBodiesMakerOptions& o) {
  std::vector<BodyShape> shapes;
  const std::vector<std::string> names(body_names.begin(), body_names.end());
  for (const std::string& name : o.shapes) {
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      const std::string near = nearest(name, names);
      std::string all;
      for (const std::string& known : names) {
        all += (all.empty() ? "" : ", ") + known;
      }
      throw ConfigError(text("rigid_bodies: there is no shape '", name, "'; ",
                             near.empty() ? "there are " + all : "did you mean '" + near + "'?"));
    }
    shapes.push_back(make_body(at - names.begin()));
  }
  for (const std::string& path : o.meshes) {
    std::string name = std::filesystem::path(path).stem().string();
    std::ranges::replace(name, ',', '_');
    shapes.push_back(body_of_mesh(read_mesh(path), name, path));
  }
  require<ConfigError>(!shapes.empty(), "rigid_bodies: shapes and meshes must not both be empty");
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      require<ConfigError>(shapes[i].name != shapes[k].name,
                           "rigid_bodies: shapes must have different names, '", shapes[i].name,
                           "' is there twice");
    }
    if (o.detail == BodyDetail::box) {
      shapes[i] = box_around(shapes[i]);
    }
  }
  return shapes;
}

RigidScene make_rigid_scene(const RigidBodiesMakerOptions& o, const std::vector<BodyShape>& shapes,
                            std::string_view split, int64_t index, const std::atomic<bool>* stopped) {
  for (uint64_t draw = 0; draw < kScenes; ++draw) {
    Stream stream(static_cast<uint64_t>(o.seed), "rigid_bodies " + std::string(split),
                  {static_cast<uint64_t>(index), draw});
    const auto world = make_rigid_world();
    RigidScene scene;
    const int64_t count = o.objects[0] + stream.below(o.objects[1] - o.objects[0] + 1);
    bool placed = true;
    for (int64_t i = 0; placed && i < count && !is_set(stopped); ++i) {
      placed = add_object(*world, shapes, stream, scene);
    }
    if (placed || is_set(stopped)) {
      record(*world, o.frames, stopped, scene);
      return scene;
    }
  }
  throw ConfigError(text("rigid_bodies: scene ", index, " of ", split, ": ", o.objects[0], " to ",
                         o.objects[1], " objects find no place without touching, tried ", kScenes,
                         " times; choose fewer objects or smaller meshes"));
}

}  // namespace weyl
