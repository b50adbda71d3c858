#include "weyl/data/makers/solids.h"

#include <array>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/new_files.h"
#include "weyl/data/formats/point_clouds.h"
#include "weyl/data/makers/solid_shapes.h"

namespace weyl {

void fields(Fields& f, SolidsMakerOptions& o) {
  f("train", o.train, "training samples", {0, 1e6});
  f("test", o.test, "test samples", {0, 1e6});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("points", o.points, "points on each surface", {1, 1e6});
  f("noise", o.noise, "standard deviation of the points, in radii of the ball that holds a shape", {0, 1});
  f("rotate", o.rotate, "how the samples are turned: upright, about the upward axis, or any way");
  f("format", o.format, "ModelNet's HDF5 files of points, or its folders of meshes");
  f("threads", o.threads, "threads that make samples; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const SolidsMakerOptions& o) {
  return {
      .what = o.format == SolidsFormat::off ? "meshes of solids" : text("solids of ", o.points, " points"),
      .counts = {{"train", o.train}, {"test", o.test}},
      .make = std::bind_front(make_solids, o)};
}

namespace {

namespace fs = std::filesystem;

constexpr int64_t kClasses = solid_names.size();
constexpr Rotation kUpToY{1, 0, 0, 0, 0, 1, 0, -1, 0};  // (x, y, z) to (x, z, -y)

Stream stream(const SolidsMakerOptions& o, std::string_view split, const char* what, int64_t index) {
  return {static_cast<uint64_t>(o.seed),
          "solids " + std::string(split) + " " + what,
          {static_cast<uint64_t>(index)}};
}

/// `cone_0007` for the seventh cone of a split.
std::string mesh_path(const std::string& folder, std::string_view split, int64_t index) {
  const std::string name(solid_names[index % kClasses]);
  std::ostringstream number;
  number << std::setw(4) << std::setfill('0') << index / kClasses + 1;
  return (fs::path(folder) / name / split / (name + "_" + number.str() + ".off")).string();
}

Mesh upright(const SolidsMakerOptions& o, std::string_view split, int64_t index) {
  Stream shape = stream(o, split, "shape", index);
  Mesh mesh = solid_shape(index % kClasses, shape);
  fit_into_ball(std::span(mesh.vertices));
  return mesh;
}

Rotation rotation(const SolidsMakerOptions& o, std::string_view split, int64_t index) {
  Stream turns = stream(o, split, "rotation", index);
  return draw_rotation(o.rotate, 2, turns);
}

}  // namespace

Mesh make_solid(const SolidsMakerOptions& o, std::string_view split, int64_t index) {
  Mesh mesh = upright(o, split, index);
  turn(std::span(mesh.vertices), rotation(o, split, index));
  return mesh;
}

std::vector<float> make_solid_points(const SolidsMakerOptions& o, std::string_view split, int64_t index) {
  Stream points = stream(o, split, "points", index);
  std::vector<float> result = sample_surface(upright(o, split, index), o.points, points);
  if (o.noise > 0) {
    for (float& x : result) {
      x += static_cast<float>(o.noise * points.normal());
    }
    fit_into_ball(std::span(result));  // before it is turned: a box around turned points has another middle
  }
  turn(std::span(result), rotation(o, split, index));
  turn(std::span(result), kUpToY);
  return result;
}

bool make_solids(const SolidsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  require<ConfigError>(o.train + o.test > 0, "solids: train and test are both 0, there is nothing to make");
  struct Part {
    std::string split;
    int64_t count;
    PointClouds clouds;
  };
  std::array<Part, 2> parts{Part{"train", o.train, {}}, Part{"test", o.test, {}}};
  const bool meshes = o.format == SolidsFormat::off;
  std::vector<std::string> paths;
  for (Part& part : parts) {
    if (meshes) {
      for (int64_t i = 0; i < part.count; ++i) {
        paths.push_back(mesh_path(folder, part.split, i));
      }
    } else if (part.count > 0) {
      paths.push_back((fs::path(folder) / (part.split + "0.h5")).string());
      part.clouds.points = o.points;
      part.clouds.positions.resize(part.count * o.points * 3);
      part.clouds.labels.resize(part.count);
    }
  }
  NewFiles files;
  for (const auto& path : paths) {
    files.add(path);
  }
  std::vector<std::string> texts(meshes ? o.train + o.test : 0);
  const bool whole = run_samples(o.train + o.test, o.threads, hooks, [&](int64_t i, const auto&) {
    Part& part = parts[i < o.train ? 0 : 1];
    const int64_t at = i < o.train ? i : i - o.train;
    if (meshes) {
      texts[i] = off_text(make_solid(o, part.split, at));
      return;
    }
    const auto points = make_solid_points(o, part.split, at);
    std::copy(points.begin(), points.end(), part.clouds.positions.begin() + at * o.points * 3);
    part.clouds.labels[at] = at % kClasses;
  });
  if (!whole) {
    return false;
  }
  std::vector<const PointClouds*> clouds;
  for (const Part& part : parts) {
    if (part.count > 0) {
      clouds.push_back(&part.clouds);
    }
  }
  files.write_each([&](size_t i) {
    meshes ? write_file_atomically(paths[i], texts[i], Existing::keep)
           : write_point_clouds(paths[i], *clouds[i], Existing::keep);
  });
  return true;
}

}  // namespace weyl
