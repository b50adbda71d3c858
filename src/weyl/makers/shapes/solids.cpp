#include "weyl/makers/shapes/solids.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <numbers>
#include <sstream>
#include <utility>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/output_files.h"
#include "weyl/data/clouds/point_clouds.h"

namespace weyl {
namespace {

using Curve = std::vector<std::array<double, 2>>;  // (radius, z) of a profile, (x, y) of an outline

constexpr int kTurns = 48;  // corners of a circle
constexpr int kArc = 24;    // of a half circle

double between(Stream& stream, double low, double high) {
  return low + (high - low) * stream.uniform();
}

int64_t add_vertex(Mesh& mesh, double x, double y, double z) {
  mesh.vertices.insert(mesh.vertices.end(), {x, y, z});
  return mesh.vertex_count() - 1;
}

void add_quad(Mesh& mesh, int64_t a, int64_t b, int64_t c, int64_t d) {
  mesh.triangles.insert(mesh.triangles.end(), {a, b, c, a, c, d});
}

/// The surface that a profile (r, z) sweeps around z, stretched by `stretch` along y.
Mesh revolved(const Curve& profile, double stretch) {
  Mesh mesh;
  const auto size = static_cast<int64_t>(profile.size());
  for (int k = 0; k < kTurns; ++k) {
    const double angle = 2 * std::numbers::pi * k / kTurns;
    for (const auto& [r, z] : profile) {
      add_vertex(mesh, r * std::cos(angle), stretch * r * std::sin(angle), z);
    }
  }
  for (int64_t k = 0; k < kTurns; ++k) {
    const int64_t here = k * size, next = (k + 1) % kTurns * size;
    for (int64_t i = 0; i + 1 < size; ++i) {
      add_quad(mesh, here + i, next + i, next + i + 1, here + i + 1);
    }
  }
  return mesh;
}

/// The sides between an outline at z = -h/2 and the same scaled by `top` at z = h/2.
Mesh sides(const Curve& outline, double height, double top) {
  Mesh mesh;
  const auto size = static_cast<int64_t>(outline.size());
  for (const double end : {-0.5, 0.5}) {
    const double scale = end < 0 ? 1 : top;
    for (const auto& [x, y] : outline) {
      add_vertex(mesh, scale * x, scale * y, end * height);
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    const int64_t j = (i + 1) % size;
    add_quad(mesh, i, j, size + j, size + i);
  }
  return mesh;
}

struct Rectangle {
  double x0, y0, x1, y1;
};

/// A prism over the union of rectangles with that outline; `top` scales its upper end.
Mesh prism(const Curve& outline, const std::vector<Rectangle>& caps, double height, double top = 1) {
  Mesh mesh = sides(outline, height, top);
  for (const double end : {-0.5, 0.5}) {
    const double s = end < 0 ? 1 : top, z = end * height;
    for (const Rectangle& c : caps) {
      const int64_t a = add_vertex(mesh, s * c.x0, s * c.y0, z);
      add_vertex(mesh, s * c.x1, s * c.y0, z);
      add_vertex(mesh, s * c.x1, s * c.y1, z);
      add_vertex(mesh, s * c.x0, s * c.y1, z);
      add_quad(mesh, a, a + 1, a + 2, a + 3);
    }
  }
  return mesh;
}

Curve rectangle(double x, double y) {
  return {{-x, -y}, {x, -y}, {x, y}, {-x, y}};
}

/// The arc of a circle of radius r around (`radius`, `z`), from one angle to another.
void arc(Curve& to, double radius, double z, double r, double from, double end, int steps) {
  for (int i = 0; i <= steps; ++i) {
    const double angle = from + (end - from) * i / steps;
    to.push_back({radius + r * std::cos(angle), z + r * std::sin(angle)});
  }
}

constexpr double kHalf = std::numbers::pi / 2;

Mesh solid_capsule(Stream& s) {
  const double length = between(s, 0.8, 2.6);
  Curve profile;
  arc(profile, 0, -length / 2, 1, -kHalf, 0, kArc / 2);
  arc(profile, 0, length / 2, 1, 0, kHalf, kArc / 2);
  return revolved(profile, between(s, 0.85, 1));
}

Mesh solid_cone(Stream& s) {
  const double height = between(s, 1.2, 3), tip = s.uniform() < 0.5 ? 0 : between(s, 0.1, 0.45);
  return revolved({{0, -height / 2}, {1, -height / 2}, {tip, height / 2}, {0, height / 2}},
                  between(s, 0.7, 1));
}

Mesh solid_cylinder(Stream& s) {
  const double height = between(s, 0.5, 3.2);
  return revolved({{0, -height / 2}, {1, -height / 2}, {1, height / 2}, {0, height / 2}}, between(s, 0.6, 1));
}

Mesh solid_ellipsoid(Stream& s) {
  Curve profile;
  arc(profile, 0, 0, 1, -kHalf, kHalf, kArc);
  const double height = between(s, 0.5, 1.6);
  for (auto& [r, z] : profile) {
    z *= height;
  }
  return revolved(profile, between(s, 0.6, 1));
}

Mesh solid_torus(Stream& s) {
  Curve profile;
  arc(profile, 1, 0, between(s, 0.18, 0.5), 0, 4 * kHalf, kArc);
  return revolved(profile, between(s, 0.7, 1));
}

Mesh solid_tube(Stream& s) {
  const double half = between(s, 0.2, 1.3), inner = between(s, 0.45, 0.85);
  return revolved({{inner, -half}, {1, -half}, {1, half}, {inner, half}, {inner, -half}}, between(s, 0.6, 1));
}

Mesh solid_l_prism(Stream& s) {
  const double a = between(s, 0.3, 0.9), b = between(s, 0.3, 0.9);  // widths of the legs, of 2
  const double x = between(s, 0.6, 1);
  return prism({{-x, -1}, {x, -1}, {x, -1 + b}, {-x + a * x, -1 + b}, {-x + a * x, 1}, {-x, 1}},
               {{-x, -1, x, -1 + b}, {-x, -1 + b, -x + a * x, 1}}, between(s, 0.4, 2));
}

Mesh solid_cross_prism(Stream& s) {
  const double a = between(s, 0.2, 0.5), b = between(s, 0.2, 0.5), x = between(s, 0.75, 1);
  return prism({{-x, -b},
                {-a, -b},
                {-a, -1},
                {a, -1},
                {a, -b},
                {x, -b},
                {x, b},
                {a, b},
                {a, 1},
                {-a, 1},
                {-a, b},
                {-x, b}},
               {{-x, -b, x, b}, {-a, -1, a, -b}, {-a, b, a, 1}}, between(s, 0.4, 2));
}

Mesh solid_box(Stream& s) {
  const double x = between(s, 0.4, 1), height = between(s, 0.5, 2.8);
  return prism(rectangle(x, 1), {{-x, -1, x, 1}}, height);
}

Mesh solid_pyramid(Stream& s) {
  const double x = between(s, 0.6, 1), height = between(s, 1, 2.8);
  const double tip = s.uniform() < 0.5 ? 0 : between(s, 0.1, 0.4);
  return prism(rectangle(x, 1), {{-x, -1, x, 1}}, height, tip);
}

}  // namespace

Mesh solid_shape(int64_t kind, Stream& stream) {
  constexpr Mesh (*kMake[])(Stream&) = {solid_box,      solid_capsule, solid_cone,    solid_cross_prism,
                                        solid_cylinder, solid_l_prism, solid_pyramid, solid_ellipsoid,
                                        solid_torus,    solid_tube};
  static_assert(std::size(kMake) == solid_names.size());
  require(kind >= 0 && kind < static_cast<int64_t>(solid_names.size()), "solid_shape: kind must be 0 .. ",
          solid_names.size() - 1, ", got ", kind);
  return kMake[kind](stream);
}

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
