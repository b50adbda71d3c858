#include "weyl/makers/shapes/parts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <span>

#include "weyl/algebra/lattice/vector3.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/clouds/surface.h"
#include "weyl/data/containers/npy.h"
#include "weyl/makers/shapes/solids.h"
#include "weyl/makers/split_files.h"

namespace weyl {

void fields(Fields& f, PartsMakerOptions& o) {
  f("train", o.train, "training samples", {0, 1e6});
  f("valid", o.valid, "validation samples", {0, 1e6});
  f("test", o.test, "test samples", {0, 1e6});
  f("seed", o.seed, "of the streams of random numbers", {0, 9.2e18});
  f("solids", o.solids, "solids of a part, each of another kind",
    {1, static_cast<double>(solid_names.size())});
  f("points", o.points, "points of a sample", {1, 1e6});
  f("noise", o.noise, "standard deviation of the points, in radii of the ball that holds a sample", {0, 1});
  f("rotate", o.rotate, "how the samples are turned: upright, about the upward axis, or any way");
  f("threads", o.threads, "threads that make samples; 0: one per core", {0, 1024});
}

MakerPlan plan_of(const PartsMakerOptions& o) {
  return {.what = text("parts of ", o.solids, " solids, ", o.points, " points"),
          .counts = {{"train", o.train}, {"valid", o.valid}, {"test", o.test}},
          .make = std::bind_front(make_parts, o)};
}

namespace {

constexpr double kUnion = 0.7;  // of the sum of their radii: so near the middles of joined solids are

struct PlacedSolid {
  int64_t kind = 0;
  Mesh mesh;
  std::array<double, 3> middle{};
  double radius = 1;
};

double area_of(const Mesh& mesh) {
  double area = 0;
  for (int64_t t = 0; t < mesh.triangle_count(); ++t) {
    Vector3 u{}, v{};
    for (size_t d = 0; d < 3; ++d) {
      const auto corner = [&](int64_t c) { return mesh.vertices[3 * mesh.triangles[3 * t + c] + d]; };
      u[d] = corner(1) - corner(0);
      v[d] = corner(2) - corner(0);
    }
    area += 0.5 * length(cross(u, v));
  }
  return area;
}

/// A solid of a kind in its place beside those that are there.
PlacedSolid placed_solid(int64_t kind, const std::vector<PlacedSolid>& there, Stream& stream) {
  PlacedSolid solid{.kind = kind, .mesh = solid_shape(kind, stream), .middle = {}, .radius = 1};
  fit_into_ball(std::span(solid.mesh.vertices));
  turn(std::span(solid.mesh.vertices), draw_rotation(Turning::z, 2, stream));
  if (!there.empty()) {
    const PlacedSolid& base = there[static_cast<size_t>(stream.below(std::ssize(there)))];
    solid.radius = 0.5 + 0.5 * stream.uniform();
    std::array<double, 3> way{};
    double square = 0;
    while (square < 1e-12) {
      square = 0;
      for (double& x : way) {
        x = stream.normal();
        square += x * x;
      }
    }
    for (size_t d = 0; d < 3; ++d) {
      solid.middle[d] = base.middle[d] + kUnion * (base.radius + solid.radius) * way[d] / std::sqrt(square);
    }
  }
  for (size_t i = 0; i < solid.mesh.vertices.size(); ++i) {
    solid.mesh.vertices[i] = solid.radius * solid.mesh.vertices[i] + solid.middle[i % 3];
  }
  return solid;
}

}  // namespace

PartCloud make_part(const PartsMakerOptions& o, std::string_view split, int64_t index) {
  const auto stream = [&](const char* what) {
    return Stream(static_cast<uint64_t>(o.seed), "parts " + std::string(split) + " " + what,
                  {static_cast<uint64_t>(index)});
  };
  Stream shape = stream("shape"), points = stream("points"), turns = stream("rotation");
  std::array<int64_t, solid_names.size()> kinds{};
  std::iota(kinds.begin(), kinds.end(), int64_t{0});
  std::vector<PlacedSolid> solids;
  std::vector<double> areas;
  for (int64_t k = 0; k < o.solids; ++k) {
    std::swap(kinds[k], kinds[k + shape.below(std::ssize(kinds) - k)]);
    solids.push_back(placed_solid(kinds[k], solids, shape));
    areas.push_back(area_of(solids.back().mesh));
  }
  const double all = std::reduce(areas.begin(), areas.end());
  PartCloud cloud;
  double area = 0;
  for (size_t k = 0; k < solids.size(); ++k) {
    area += areas[k];
    const auto until = k + 1 == solids.size()
                           ? o.points
                           : static_cast<int64_t>(std::llround(static_cast<double>(o.points) * area / all));
    const int64_t count = until - std::ssize(cloud.kinds);
    if (count > 0) {
      const std::vector<float> on = sample_surface(solids[k].mesh, count, points);
      cloud.positions.insert(cloud.positions.end(), on.begin(), on.end());
      cloud.kinds.insert(cloud.kinds.end(), count, static_cast<uint8_t>(solids[k].kind));
    }
  }
  fit_into_ball(std::span(cloud.positions));
  for (float& x : cloud.positions) {
    x += static_cast<float>(o.noise * points.normal());
  }
  fit_into_ball(
      std::span(cloud.positions));  // before it is turned: a box around turned points has another middle
  turn(std::span(cloud.positions), draw_rotation(o.rotate, 2, turns));
  return cloud;
}

bool make_parts(const PartsMakerOptions& o, const std::string& folder, const JobHooks& hooks) {
  const auto make = [&](const char* split, int64_t index) { return make_part(o, split, index); };
  const auto write = [&](std::span<const PartCloud> clouds, const char*, const std::string& path) {
    const auto count = static_cast<int64_t>(clouds.size());
    NamedArray positions{"positions", {ElementType::f32, {count, o.points, 3}, {}}},
        part{"part", {ElementType::u8, {count, o.points}, {}}};
    for (const PartCloud& cloud : clouds) {
      const auto places = std::as_bytes(std::span(cloud.positions)),
                 kinds = std::as_bytes(std::span(cloud.kinds));
      positions.array.bytes.insert(positions.array.bytes.end(), places.begin(), places.end());
      part.array.bytes.insert(part.array.bytes.end(), kinds.begin(), kinds.end());
    }
    write_npz(path, std::array{std::move(positions), std::move(part)}, false, Existing::keep);
  };
  return make_split_files("parts", {o.train, o.valid, o.test}, folder, o.threads, hooks, make, write, ".npz");
}

}  // namespace weyl
