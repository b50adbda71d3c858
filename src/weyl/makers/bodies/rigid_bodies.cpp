#include "weyl/makers/bodies/rigid_bodies.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <span>

#include "weyl/config/toml.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/nearest.h"
#include "weyl/core/output_files.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/makers/bodies/body_families.h"
#include "weyl/makers/bodies/rigid_world.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, RigidBodiesMakerOptions& o) {
  f("train", o.train, "training scenes", {0, 1e8});
  f("valid", o.valid, "validation scenes", {0, 1e8});
  f("test", o.test, "test scenes", {0, 1e8});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("objects", o.objects, "fewest and most objects of a scene", {1, 1000});
  f("shapes", o.shapes,
    "of the objects: cube, cylinder, sphere, cone, torus, gear, torus_knot, sponge, spot, teapot, suzanne");
  f("meshes", o.meshes, "files of further shapes, OBJ, OFF, PLY or STL: each piece becomes a convex hull");
  f("scale", o.scale, "metres of one unit of the files in meshes: 0.001 where they are in millimetres",
    {1e-9, 1e9});
  f("detail", o.detail, "what objects collide as: convex hulls, or the box around each (12 triangles)");
  f("frames", o.frames, "frames of a scene, 48 a second; a sample is two of them and the next", {3, 1e6});
  f("threads", o.threads, "threads that simulate; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const RigidBodiesMakerOptions& o) {
  return {.what = "scenes of rigid bodies",
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_rigid_bodies, o),
          .goes_on = true};
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kChunkScenes = 16,
                  kChunks = 2000;  // scenes of a file of `.partial` at least, such files at most
constexpr double kFrameInterval = rigid_steps_per_frame * rigid_time_step;

void require_rigid_bodies_options(const RigidBodiesMakerOptions& o) {
  require<ConfigError>(o.objects.size() == 2 && o.objects[0] >= 1 && o.objects[0] <= o.objects[1],
                       "rigid_bodies: objects must be the fewest and the most objects of a scene, such as "
                       "[3, 10], got ",
                       o.objects.size() == 2 ? text("[", o.objects[0], ", ", o.objects[1], "]")
                                             : text(o.objects.size(), " numbers"));
  require<ConfigError>(o.train + o.valid + o.test > 0,
                       "rigid_bodies: train, valid and test are all 0, there is nothing to make");
  require<ConfigError>(o.scale == 1 || !o.meshes.empty(),
                       "rigid_bodies: scale is that of meshes, of which none is given");
}

/// Consecutive scenes of a split that are made and kept together.
struct Chunk {
  std::string split;
  int64_t first, count;
  std::string path;
  bool done = false;
};

class RigidBodiesMaker {
 public:
  RigidBodiesMaker(const RigidBodiesMakerOptions& options, const std::string& folder)
      : o_(options), shapes_(body_shapes(options)) {
    RigidBodiesMakerOptions said = o_;
    said.threads = 0;
    options_ = write_toml([&](Fields& f) { fields(f, said); });
    for (const BodyShape& shape : shapes_) {
      blank_.shapes.push_back({shape.name, {shape.vertices, shape.triangles}});
    }
    blank_.frames = o_.frames;
    blank_.interval = kFrameInterval;
    partial_ = parts_folder(folder);
    cut();
  }

  /// False when stopped.
  bool simulate(const JobHooks& hooks) {
    make_folder(partial_.string());
    std::atomic<int64_t> done{0};
    int64_t total = 0;
    std::vector<Chunk*> open;
    for (Chunk& chunk : chunks_) {
      total += chunk.count;
      if (chunk.done) {
        done += chunk.count;
      } else {
        open.push_back(&chunk);
      }
    }
    JobHooks inner{.stop = hooks.stop};
    if (hooks.report) {
      inner.report = [&](int64_t, int64_t) { hooks.report(done, total); };
    }
    return run_samples(static_cast<int64_t>(open.size()), o_.threads, inner,
                       [&](int64_t i, const auto& stopped) { make(*open[i], stopped, done); });
  }

  /// The scenes of one split, together; their poses, which are nearly all of it, by a file beside the chunks.
  void write(const std::string& split, const std::string& path) const {
    RigidScenes scenes = blank_;
    const std::string all_poses = (partial_ / (split + ".poses")).string();
    {
      AtomicFile poses(all_poses, Existing::replace_link);
      for (const Chunk& chunk : chunks_) {
        if (chunk.split == split) {
          add(*open(chunk), scenes, poses);
        }
      }
      poses.commit();
    }
    std::string stand_ins;
    for (const BodyShape& shape : shapes_) {
      if (is_stand_in(shape.name)) {
        stand_ins += (stand_ins.empty() ? "" : ",") + shape.name;
      }
    }
    const MappedFile poses(all_poses);
    const std::span<const float> values(reinterpret_cast<const float*>(poses.bytes().data()),
                                        poses.bytes().size() / sizeof(float));
    write_rigid_scenes(path, scenes, values,
                       {{"split", split},
                        {"maker", RigidBodiesMakerOptions::name_in_config},
                        {"maker_version", "2"},  // 1: other triangles of the same hulls
                        {"bullet", bullet_version()},
                        {"seed", std::to_string(o_.seed)},
                        {"detail", std::string(names_of(o_.detail)[static_cast<size_t>(o_.detail)])},
                        {"stand_ins", stand_ins}},
                       Existing::keep);
  }

  const std::string& options() const { return options_; }
  void forget() const {
    std::error_code failure;
    fs::remove_all(partial_, failure);
  }

 private:
  /// Adds the scenes of a chunk, their poses to the end of a file.
  static void add(const RigidScenesFile& file, RigidScenes& scenes, AtomicFile& poses) {
    for (int64_t i = 0; i < file.scenes(); ++i) {
      RigidScene scene = file.scene(i);
      poses.write(std::as_bytes(std::span(scene.poses)));
      scene.poses.clear();
      scenes.add(scene);
    }
  }

  void cut() {
    for (const auto& [split, count] :
         {std::pair{"train", o_.train}, {"valid", o_.valid}, {"test", o_.test}}) {
      const int64_t size = std::max(kChunkScenes, (count + kChunks - 1) / kChunks);
      for (int64_t first = 0; first < count; first += size) {
        Chunk chunk{split, first, std::min(size, count - first),
                    (partial_ / text(split, "-", first, ".safetensors")).string()};
        if (fs::exists(chunk.path)) {
          open(chunk);
          chunk.done = true;
        }
        chunks_.push_back(std::move(chunk));
      }
    }
  }

  /// The file of a chunk. ConfigError: it was made with other options. DataError: it is damaged.
  std::unique_ptr<RigidScenesFile> open(const Chunk& chunk) const {
    try {
      auto file = std::make_unique<RigidScenesFile>(chunk.path);
      require_same(*file, chunk);
      return file;
    } catch (const UnreadableError&) {
      throw;
    } catch (const DataError& error) {
      throw DataError(text(error.what(), "; remove it to make its scenes anew"));
    }
  }

  void require_same(const RigidScenesFile& file, const Chunk& chunk) const {
    const auto of = file.metadata().find("what");
    require<ConfigError>(
        of != file.metadata().end() && of->second == options_ && file.shapes() == blank_.shapes,
        partial_.string(), ": was begun with other options; give those, remove it, or choose another folder");
    require<DataError>(file.scenes() == chunk.count && file.frames() == o_.frames, file.path(),
                       ": must have ", chunk.count, " scenes of ", o_.frames, " frames, has ", file.scenes(),
                       " of ", file.frames());
  }

  void make(Chunk& chunk, const std::atomic<bool>& stopped, std::atomic<int64_t>& done) const {
    RigidScenes scenes = blank_;
    for (int64_t i = 0; i < chunk.count; ++i) {
      const RigidScene scene = make_rigid_scene(o_, shapes_, chunk.split, chunk.first + i, &stopped);
      if (stopped) {
        return;
      }
      scenes.add(scene);
      ++done;
    }
    write_rigid_scenes(chunk.path, scenes, {{"what", options_}});
  }

  const RigidBodiesMakerOptions& o_;
  std::vector<BodyShape> shapes_;
  RigidScenes blank_;  // without scenes
  std::string options_;
  fs::path partial_;
  std::vector<Chunk> chunks_;
};

}  // namespace

bool make_rigid_bodies(const RigidBodiesMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  require_rigid_bodies_options(o);
  make_rigid_world();  // says at once whether there is Bullet
  std::vector<std::string> splits;
  NewFiles files;
  for (const auto& [split, count] : {std::pair{"train", o.train}, {"valid", o.valid}, {"test", o.test}}) {
    if (count > 0) {
      splits.emplace_back(split);
      files.add_split(folder, split);
    }
  }
  files.add((fs::path(folder) / "rigid_bodies.toml").string());
  RigidBodiesMaker maker(o, folder);
  if (!maker.simulate(hooks)) {
    return false;
  }
  files.write_each([&](size_t i) {
    if (i < splits.size()) {
      maker.write(splits[i], files.path(i));
    } else {
      write_file_atomically(files.path(i), maker.options() + "\n", Existing::keep);
    }
  });
  maker.forget();
  return true;
}

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
  bool ever_fits = false;
  // What is too large for the room in every orientation stands out of it: on its lower side, in its middle.
  for (int trial = 0; trial < (ever_fits ? kTrials : 2 * kTrials); ++trial) {
    const Quaternion q = draw_quaternion(stream);
    const auto box = turned(bounds, object.scale, q);
    ScenePlace position;
    bool fits = true;
    for (int d = 0; d < 3; ++d) {
      const double low = kLow[d] - box[d], high = kHigh[d] - box[3 + d], at = stream.uniform();
      fits = fits && low <= high;
      position[d] = low <= high ? low + (high - low) * at : d == 2 ? low : (low + high) / 2;
    }
    ever_fits = ever_fits || fits;
    if ((fits || trial >= kTrials) && world.place(position, q)) {
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
    Mesh mesh = read_mesh(path);
    for (double& x : mesh.vertices) {
      x *= o.scale;
    }
    shapes.push_back(body_of_mesh(mesh, name, path));
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
  throw ConfigError(text(
      "rigid_bodies: scene ", index, " of ", split, ": ", o.objects[0], " to ", o.objects[1],
      " objects find no place without touching, tried ", kScenes,
      " times; choose fewer objects or smaller meshes (lengths are metres: scale=0.001 where files are in millimetres)"));
}

}  // namespace weyl
