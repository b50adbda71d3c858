#include "weyl/data/makers/rigid_bodies.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <span>

#include "weyl/config/toml.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/mapped_file.h"
#include "weyl/core/new_files.h"
#include "weyl/data/makers/body_families.h"
#include "weyl/data/makers/rigid_scene.h"
#include "weyl/data/makers/rigid_world.h"

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
    fs::path partial = fs::path(folder).lexically_normal();
    if (!partial.has_filename()) {
      partial = partial.parent_path();
    }
    partial_ = partial += ".partial";
    cut();
  }

  /// False when stopped.
  bool simulate(const JobHooks& hooks) {
    std::error_code failure;
    fs::create_directories(partial_, failure);
    require<DataError>(fs::is_directory(partial_), partial_.string(),
                       ": cannot be made: ", failure.message());
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
      AtomicFile poses(all_poses);
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

}  // namespace weyl
