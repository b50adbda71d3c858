#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "weyl/data/clouds/mesh_file.h"

namespace weyl {

/// Occupancy (n, n, n) of the cube [-1, 1]^3, axes in the order of the coordinates: 1 in the cell
/// trunc((p + 1) n / 2) of every point (P, 3), 0 elsewhere. Points outside the cube, and those at +1, count
/// for the cell nearest to them: none is lost and none wraps around. ShapeError: n < 1, points not (P, 3),
/// coordinates that are not finite.
std::vector<uint8_t> voxelise(std::span<const float> points, int64_t n);

/// 1 in every cell that a triangle touches, by the separating axes of box and triangle; triangles are cut at
/// the cube (one that lies outside of it marks the cells nearest to its corners).
std::vector<uint8_t> voxelise(const Mesh& mesh, int64_t n);

/// Density (n, n, n) of points (P, 3) in the cube [-1, 1]^3: at the centre of each cell the sum of a Gaussian
/// around every point, `sigma` cells wide and cut at 4 sigma. Unlike occupancy it turns with the points, as
/// well as samples of a field of this smoothness can. Scaled so that points spread evenly on the sphere of
/// radius 1 make it about 1 there, whatever P, n and sigma. Points outside the cube count for the place on
/// its surface next to them. ShapeError: likewise, sigma outside 0.3 (too narrow for cells) .. 100.
std::vector<float> point_density(std::span<const float> points, int64_t n, double sigma);

}  // namespace weyl
