#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/data/formats/off.h"

namespace weyl {

/// The most corners that a convex part of a body may have: those of the decompositions that MOVi's bodies came from.
constexpr int64_t most_corners = 64;

/// What a rigid body collides with, at scale 1 and about its centre of mass: convex parts, each with its own corners,
/// and the triangles of all of their surfaces. Parts may touch or overlap; triangles inside others stay.
struct BodyShape {
  std::string name;
  double mass = 1;                 // at scale 1 and density 1
  std::vector<double> vertices;    // (V, 3), in m, part after part
  std::vector<int64_t> triangles;  // (T, 3), rows of `vertices`, counter-clockwise from outside
  std::vector<int64_t> parts{0};   // (H + 1), where the vertices of each part begin

  int64_t vertex_count() const { return static_cast<int64_t>(vertices.size()) / 3; }
  int64_t triangle_count() const { return static_cast<int64_t>(triangles.size()) / 3; }
  int64_t part_count() const { return static_cast<int64_t>(parts.size()) - 1; }
  bool operator==(const BodyShape&) const = default;
};

/// The box around a shape: low x, y, z, then high x, y, z.
std::array<double, 6> bounds_of(const BodyShape& shape);

/// A shape of convex parts, each the corners (P, 3) of its hull. ShapeError: a part of fewer than 4 points or of more than
/// `most_corners`, or one that lies in a plane.
BodyShape body_of_parts(std::string name, double mass, std::span<const std::vector<double>> parts);

/// The box around a shape with its mass, as a shape of one part: 8 vertices, 12 triangles.
BodyShape box_around(const BodyShape& shape);

/// A mesh as a body: every piece of its surface that hangs together (vertices of the same coordinates count as one, but
/// objects that its file tells apart are pieces of their own, also where they touch)
/// becomes the convex hull of at most `most_corners` of its corners, the mass is the volume of these hulls together,
/// and the origin moves to their centre of mass. A mesh that is to collide as something that is not convex is therefore cut into
/// convex pieces first, by a program for that. DataError naming `where`: a piece that encloses nothing.
BodyShape body_of_mesh(const Mesh& mesh, const std::string& name, const std::string& where);

}  // namespace weyl
