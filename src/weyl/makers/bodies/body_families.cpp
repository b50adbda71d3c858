#include "weyl/makers/bodies/body_families.h"

#include <cmath>
#include <numbers>

#include "weyl/core/check.h"

namespace weyl {
namespace {

using Place = std::array<double, 3>;
using Part = std::vector<double>;
using Parts = std::vector<Part>;

constexpr double kPi = std::numbers::pi;

void add_point(Part& part, const Place& p) {
  part.insert(part.end(), p.begin(), p.end());
}
void append(Part& part, const Part& more) {
  part.insert(part.end(), more.begin(), more.end());
}
Place plus(const Place& a, const Place& b, double s = 1) {
  return {a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]};
}
Place cross(const Place& a, const Place& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Place unit(const Place& a) {
  const double n = std::hypot(a[0], a[1], a[2]);
  return {a[0] / n, a[1] / n, a[2] / n};
}

/// `count` points of a circle about `centre` from angle `begin` on, `arc` apart from the first to one after the last; an
/// arc of less than a circle has both ends. u and v are its axes, of the length of its radii.
Part circle(const Place& centre, const Place& u, const Place& v, int count, double begin = 0,
            double arc = 2 * kPi) {
  Part part;
  for (int k = 0; k < count; ++k) {
    const double a = begin + arc * k / (arc < 2 * kPi ? count - 1 : count);
    add_point(part, plus(plus(centre, u, std::cos(a)), v, std::sin(a)));
  }
  return part;
}

/// A circle about the axis z.
Part ring(double radius, double z, int count) {
  return circle({0, 0, z}, {radius, 0, 0}, {0, radius, 0}, count);
}

/// `count` points spread over an ellipsoid, on a spiral from its top to its bottom.
Part ellipsoid(const Place& centre, const Place& radii, int count) {
  Part part;
  const double turn = kPi * (3 - std::sqrt(5.0));
  for (int k = 0; k < count; ++k) {
    const double z = 1 - (2.0 * k + 1) / count, r = std::sqrt(1 - z * z), a = turn * k;
    add_point(part, {centre[0] + radii[0] * r * std::cos(a), centre[1] + radii[1] * r * std::sin(a),
                     centre[2] + radii[2] * z});
  }
  return part;
}

/// A piece of a bent tube: discs of `corners` points at both ends, and between them, where it bulges, `middle` points of
/// a circle about the middle of the bend.
struct Bend {
  std::array<Place, 3> at;       // the tube's centre at the beginning, in the middle and at the end
  std::array<Place, 3> forward;  // its direction there
  double radius;
};
Part tube(const Bend& bend, int corners, int middle) {
  Part part;
  const Place chord = plus(bend.at[1], plus(bend.at[0], bend.at[2]), -0.5);
  const Place outward = unit(chord);
  for (const int k : {0, 1, 2}) {
    const Place v = unit(cross(bend.forward[k], outward)), u = cross(v, bend.forward[k]);
    const Place a = {u[0] * bend.radius, u[1] * bend.radius, u[2] * bend.radius},
                b = {v[0] * bend.radius, v[1] * bend.radius, v[2] * bend.radius};
    append(part, k == 1 ? circle(bend.at[k], a, b, middle, -0.45 * kPi, 0.9 * kPi)
                        : circle(bend.at[k], a, b, corners));
  }
  return part;
}

/// Moves and scales all parts, axis by axis, so that they fill a box.
void fit(Parts& parts, const Place& low, const Place& high) {
  Place from{INFINITY, INFINITY, INFINITY}, to{-INFINITY, -INFINITY, -INFINITY};
  for (const Part& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) {
      from[i % 3] = std::min(from[i % 3], part[i]);
      to[i % 3] = std::max(to[i % 3], part[i]);
    }
  }
  for (Part& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t d = i % 3;
      part[i] = low[d] + (part[i] - from[d]) * (high[d] - low[d]) / (to[d] - from[d]);
    }
  }
}

/// Every corner of the cube cut off three times over (48 corners), and three edges that meet in one corner a little
/// rounder.
Parts cube() {
  constexpr double a = 0.5, b = 0.48, c = 0.46;
  Part part;
  for (const Place& p : {Place{a, b, c}, {a, c, b}, {b, a, c}, {b, c, a}, {c, a, b}, {c, b, a}}) {
    for (int corner = 0; corner < 8; ++corner) {
      add_point(part,
                {(corner & 1 ? 1 : -1) * p[0], (corner & 2 ? 1 : -1) * p[1], (corner & 4 ? 1 : -1) * p[2]});
    }
  }
  constexpr double e = 0.494;
  add_point(part, {e, e, 0});
  add_point(part, {0, e, e});
  add_point(part, {e, 0, e});
  return {part};
}

Parts cylinder() {
  Part part = ring(0.5, -0.5, 32);
  append(part, ring(0.5, 0.5, 32));
  return {part};
}

Parts sphere() {
  return {ellipsoid({0, 0, 0}, {0.5, 0.5, 0.5}, 64)};
}

Parts cone() {
  Part part = ring(0.6007, -0.3062, 63);
  add_point(part, {0, 0, 0.8997});
  return {part};
}

/// Twelve pieces of a tube of radius 0.15 around a circle of radius 0.6.
Parts torus() {
  Parts parts;
  for (int k = 0; k < 12; ++k) {
    Bend bend{.radius = 0.15};
    for (int i = 0; i < 3; ++i) {
      const double a = 2 * kPi * (k + 0.5 * i) / 12;
      bend.at[i] = {0.6 * std::cos(a), 0.6 * std::sin(a), 0};
      bend.forward[i] = {-std::sin(a), std::cos(a), 0};
    }
    parts.push_back(tube(bend, 20, k == 0 ? 13 : 14));
  }
  return parts;
}

/// A hub and 22 teeth with round tips.
Parts gear() {
  constexpr double half = 0.1386, root = 0.54, tip = 0.7494, flank = 0.68;
  Part hub = ring(0.56, -half, 32);
  append(hub, ring(0.56, half, 32));
  Parts parts{hub};
  for (int k = 0; k < 22; ++k) {
    const double a = 2 * kPi * k / 22;
    const Place out{std::cos(a), std::sin(a), 0}, side{-std::sin(a), std::cos(a), 0};
    const auto face = [&](double z, int corners) {
      const Place up{0, 0, z};
      Part part;
      add_point(part, plus(plus(up, out, root), side, -0.07));
      add_point(part, plus(plus(up, out, root), side, 0.07));
      append(part, circle(plus(up, out, flank), plus({}, out, tip - flank), plus({}, side, 0.055),
                          corners - 2, -0.5 * kPi, kPi));
      return part;
    };
    Part tooth = face(-half, 11);
    append(tooth, face(half, k == 0 ? 11 : 12));
    parts.push_back(tooth);
  }
  return parts;
}

/// 31 pieces of a tube around the trefoil that winds twice about the axis and thrice about a circle.
Parts torus_knot() {
  const auto knot = [](double t) {
    const double r = 0.463 + 0.238 * std::cos(3 * t);
    return Place{-r * std::cos(2 * t), -r * std::sin(2 * t), 0.238 * std::sin(3 * t)};
  };
  Parts parts;
  for (int k = 0; k < 31; ++k) {
    Bend bend{.radius = 0.108};
    for (int i = 0; i < 3; ++i) {
      const double t = 2 * kPi * (k + 0.5 * i) / 31, h = 1e-4;
      bend.at[i] = knot(t);
      bend.forward[i] = unit(plus(knot(t + h), knot(t - h), -1));
    }
    parts.push_back(tube(bend, 14, k < 26 ? 9 : 8));
  }
  return parts;
}

/// A box with two opposite corners cut off (12 corners), or whole (8).
Part block(const Place& low, const Place& high, bool cut) {
  Part part;
  double least = INFINITY;
  for (int d = 0; d < 3; ++d) {
    least = std::min(least, high[d] - low[d]);
  }
  for (int corner = 0; corner < 8; ++corner) {
    Place p;
    for (int d = 0; d < 3; ++d) {
      p[d] = corner >> d & 1 ? high[d] : low[d];
    }
    if (cut && (corner == 0 || corner == 7)) {
      for (int d = 0; d < 3; ++d) {
        Place q = p;
        q[d] += (corner == 0 ? 0.2 : -0.2) * least;
        add_point(part, q);
      }
    } else {
      add_point(part, p);
    }
  }
  return part;
}

/// A cube with channels, after Menger: a third of its width wide through the middle along all three axes, a ninth wide along
/// z through every column, and a ninth wide along x through the columns at the corners and from outside into
/// four of those between.
Parts sponge() {
  Parts parts;
  const auto box = [&](int x0, int x1, int y0, int y1, int z0, int z1) {
    const auto at = [](int cell) { return cell / 9.0 - 0.5; };
    parts.push_back(block({at(x0), at(y0), at(z0)}, {at(x1), at(y1), at(z1)}, !parts.empty()));
  };
  for (const int x : {0, 6}) {
    for (const int y : {0, 6}) {
      box(x, x + 3, y, y + 1, 0, 9);
      box(x, x + 3, y + 2, y + 3, 0, 9);
      for (const int wall : {x, x + 2}) {
        for (const auto& [z0, z1] : {std::pair{0, 1}, {2, 4}, {5, 7}, {8, 9}}) {
          box(wall, wall + 1, y + 1, y + 2, z0, z1);
        }
      }
    }
  }
  for (const int z : {0, 6}) {
    for (const auto& [x, y] : {std::pair{3, 0}, {3, 6}}) {
      box(x, x + 3, y, y + 1, z, z + 3);
      box(x, x + 3, y + 2, y + 3, z, z + 3);
      box(x, x + 1, y + 1, y + 2, z, z + 3);
      box(x + 2, x + 3, y + 1, y + 2, z, z + 3);
    }
    for (const int x : {0, 6}) {
      const int inner = x == 0 ? 2 : 6, outer = x == 0 ? 0 : 8;
      box(x, x + 3, 3, 4, z, z + 3);
      box(x, x + 3, 5, 6, z, z + 3);
      box(inner, inner + 1, 4, 5, z, z + 3);
      box(outer, outer + 1, 4, 5, z, z + 1);
      box(outer, outer + 1, 4, 5, z + 2, z + 3);
    }
  }
  return parts;
}

/// Ellipsoids in the place of a cow: body, chest, head, muzzle, four legs of two pieces, two ears.
Parts spot() {
  Parts parts{ellipsoid({0, 0.1, 0}, {0.3, 0.45, 0.3}, 64), ellipsoid({0, -0.2, 0.1}, {0.28, 0.3, 0.3}, 64),
              ellipsoid({0, -0.4, 0.4}, {0.2, 0.2, 0.22}, 64),
              ellipsoid({0, -0.55, 0.33}, {0.13, 0.12, 0.11}, 48)};
  for (const double x : {-0.17, 0.17}) {
    for (const double y : {-0.25, 0.35}) {
      parts.push_back(ellipsoid({x, y, -0.25}, {0.1, 0.11, 0.17}, 47));
      parts.push_back(ellipsoid({x, y, -0.42}, {0.08, 0.08, 0.13}, 47));
    }
    parts.push_back(ellipsoid({1.3 * x, -0.36, 0.6}, {0.09, 0.05, 0.1}, 33));
  }
  return parts;
}

/// A surface of revolution with a spout and a handle.
Parts teapot() {
  Part lower = ring(0.3, -0.3, 16), upper = ring(0.46, 0, 16), lid = ring(0.25, 0.24, 16);
  append(lower, ring(0.44, -0.16, 16));
  append(lower, ring(0.46, 0, 16));
  append(upper, ring(0.4, 0.14, 16));
  append(upper, ring(0.28, 0.24, 16));
  append(lid, ring(0.2, 0.3, 16));
  add_point(lid, {0, 0, 0.34});
  Parts parts{lower, upper, lid, ellipsoid({0, 0, 0.38}, {0.08, 0.08, 0.06}, 18)};
  const auto disc = [](const Place& centre, double radius, double tilt, int count) {
    return circle(centre, {radius, 0, 0}, {0, radius * std::sin(tilt), radius * std::cos(tilt)}, count);
  };
  Part low = disc({0, 0.38, -0.08}, 0.12, -0.3, 12), high = disc({0, 0.56, 0.04}, 0.07, -0.7, 12);
  append(low, disc({0, 0.56, 0.04}, 0.07, -0.7, 12));
  append(high, disc({0, 0.72, 0.22}, 0.05, -1.2, 12));
  parts.push_back(low);
  parts.push_back(high);
  const auto handle = [](double t) {  // an arc behind the body
    return Place{0, -0.4 - 0.25 * std::sin(t), 0.02 + 0.15 * std::cos(t)};
  };
  for (int k = 0; k < 3; ++k) {
    Bend bend{.radius = 0.035};
    for (int i = 0; i < 3; ++i) {
      const double t = kPi * (k + 0.5 * i) / 3, h = 1e-4;
      bend.at[i] = handle(t);
      bend.forward[i] = unit(plus(handle(t + h), handle(t - h), -1));
    }
    parts.push_back(tube(bend, 10, k == 1 ? 7 : 6));
  }
  return parts;
}

/// Ellipsoids in the place of a monkey's head: skull, jaw, two ears of two pieces, eyes, brows, nose, cheeks.
Parts suzanne() {
  Parts parts{ellipsoid({0, 0, 0.08}, {0.42, 0.4, 0.36}, 64),
              ellipsoid({0, -0.1, -0.35}, {0.25, 0.28, 0.28}, 64),
              ellipsoid({0, -0.36, -0.12}, {0.12, 0.1, 0.12}, 35)};
  for (const double side : {-1.0, 1.0}) {
    parts.push_back(ellipsoid({0.46 * side, 0.08, 0.02}, {0.14, 0.06, 0.16}, 36));
    parts.push_back(ellipsoid({0.6 * side, 0.12, 0.05}, {0.11, 0.05, 0.2}, 36));
    parts.push_back(ellipsoid({0.17 * side, -0.34, 0.08}, {0.12, 0.08, 0.12}, 36));
    parts.push_back(ellipsoid({0.17 * side, -0.33, 0.24}, {0.15, 0.1, 0.06}, 36));
    parts.push_back(ellipsoid({0.22 * side, -0.22, -0.22}, {0.14, 0.14, 0.14}, 36));
  }
  return parts;
}

struct BodyFamily {
  Parts (*parts)();
  double mass;
  Place low, high;
};

// Masses and boxes are those of the published meshes (research notes, section 5).
const std::array<BodyFamily, body_names.size()> families{{
    {cube, 0.9936, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
    {cylinder, 0.7808, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
    {sphere, 0.5225, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
    {cone, 0.4774, {-0.6007, -0.6007, -0.3062}, {0.6007, 0.6007, 0.8997}},
    {torus, 0.2627, {-0.75, -0.75, -0.15}, {0.75, 0.75, 0.15}},
    {gear, 0.2842, {-0.7494, -0.7494, -0.1386}, {0.7494, 0.7494, 0.1386}},
    {torus_knot, 0.2724, {-0.809, -0.748, -0.346}, {0.591, 0.748, 0.346}},
    {sponge, 0.5476, {-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}},
    {spot, 0.2763, {-0.343, -0.626, -0.528}, {0.343, 0.623, 0.701}},
    {teapot, 0.3227, {-0.465, -0.702, -0.291}, {0.465, 0.793, 0.441}},
    {suzanne, 0.3113, {-0.7135, -0.441, -0.641}, {0.7135, 0.419, 0.385}},
}};

}  // namespace

BodyShape make_body(int64_t kind) {
  require(kind >= 0 && kind < static_cast<int64_t>(families.size()), "bodies: must be one of 0 .. ",
          families.size() - 1, ", got ", kind);
  const BodyFamily& family = families[kind];
  Parts parts = family.parts();
  fit(parts, family.low, family.high);
  return body_of_parts(std::string(body_names[kind]), family.mass, parts);
}

}  // namespace weyl
