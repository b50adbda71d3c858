#pragma once

#include <cstdint>
#include <span>
#include <vector>

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

}  // namespace weyl
