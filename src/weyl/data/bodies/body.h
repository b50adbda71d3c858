#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/data/clouds/mesh_file.h"

namespace weyl {

/// The triangles (T, 3) of the convex hull of points (P, 3), rows of them, seen counter-clockwise from outside; faces of
/// more than three corners are cut into triangles. Every corner of the hull is there, so points that are all corners give
/// T = 2 P - 4. Exact for the points rounded to 2^-39 of the size of the whole. What lies on the boundary without being
/// a corner may become one. The same points give the same triangles. ShapeError: fewer than 4 points, or all of them
/// in a plane, up to 1e-6 of the size.
std::vector<int64_t> hull_triangles(std::span<const double> points);

/// Rows of points (P, 3) that are corners of their convex hull, ascending: all that stick out of the hull of the others
/// by more than 1e-6 of the size of the whole, however sharp or blunt, but at most `most`, at least 4. Each is the point
/// that sticks out furthest from the hull of those before it, so the hull of `most` of them leaves little outside.
/// ShapeError as hull_triangles.
std::vector<int64_t> hull_corners(std::span<const double> points, int64_t most);

/// The volume that closed triangles enclose, and its centre of mass: sums of the tetrahedra that they form with a
/// corner of the first, so that a small body far from the origin loses no digits. Counter-clockwise triangles give a positive volume.
struct Enclosed {
  double volume = 0;
  double centre[3] = {0, 0, 0};
};
Enclosed enclosed_by(std::span<const double> points, std::span<const int64_t> triangles);

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
/// convex pieces first, by a program for that. DataError naming `where`: a piece that encloses nothing, a volume that is no
/// number of float32.
BodyShape body_of_mesh(const Mesh& mesh, const std::string& name, const std::string& where);

}  // namespace weyl
