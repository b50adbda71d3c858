#include "weyl/data/makers/solid_shapes.h"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "weyl/core/check.h"

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

}  // namespace weyl
