#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

/// The triangles (T, 3) of the convex hull of points (P, 3), rows of them, seen counter-clockwise from outside. Points
/// that are corners of the hull, each by more than 1e-5 of the size of the whole, give T = 2 P - 4: faces of more than
/// three corners are cut into triangles. Points well inside are no corners. What lies on the boundary without being a
/// corner may become one, by up to 1e-6 of the size. The same points give the same triangles. ShapeError: fewer than 4
/// points, or all of them (nearly) in a plane.
std::vector<int64_t> hull_triangles(std::span<const double> points);

/// Rows of points (P, 3) that are corners of their convex hull, at most `most` of them, ascending: those that lie
/// furthest along 4096 directions spread over the sphere, and where these are more than `most`, the ones that are
/// furthest from each other, chosen one after the other.
std::vector<int64_t> hull_corners(std::span<const double> points, int64_t most);

/// The volume that closed triangles enclose, and its centre of mass: sums of the tetrahedra that they form with the
/// origin. Counter-clockwise triangles give a positive volume.
struct Enclosed {
  double volume = 0;
  double centre[3] = {0, 0, 0};
};
Enclosed enclosed_by(std::span<const double> points, std::span<const int64_t> triangles);

}  // namespace weyl
