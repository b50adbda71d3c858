#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/data/clouds/mesh_file.h"
#include "weyl/data/clouds/turning.h"

namespace weyl {

/// Points (count, 3) uniform on the surface: triangles drawn by their areas, then a point in each. `normals`, where they are
/// asked for, become (count, 3), the unit normals of those triangles, on the side from which their corners run against the
/// clock. ShapeError: count < 1, a surface without area.
std::vector<float> sample_surface(const Mesh& mesh, int64_t count, Stream& stream,
                                  std::vector<float>* normals = nullptr);

/// Moves points (P, 3) so that the middle of their bounding box is the origin, and scales them so that the
/// furthest is at distance 1: no rotation takes them out of the cube [-1, 1]^3. A single point stays at 0.
void fit_into_ball(std::span<double> points);
void fit_into_ball(std::span<float> points);

/// A rotation, row-major.
using Rotation = std::array<double, 9>;

/// One rotation; `up` is the axis (0, 1, 2) that `z` turns about.
Rotation draw_rotation(Turning turning, int up, Stream& stream);

/// Points (P, 3), each p to R p.
void turn(std::span<float> points, const Rotation& rotation);
void turn(std::span<double> points, const Rotation& rotation);

}  // namespace weyl
