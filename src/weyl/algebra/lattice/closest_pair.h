#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace weyl {

struct ClosestPair {
  double distance = 0;
  int64_t first = 0, second = 0;  // points from 0, the same one: its image
};

/// Those two of the points (N, 3), or a point and its image along a period, which are nearest to one another, if they
/// are nearer than `bound`. cell (3, 3), rows are lattice vectors, or null; rows along axes that are not periodic mean
/// nothing. Time N log N, wherever the points are. Of cells so flat that more than 4 images along a vector are within
/// the bound, the nearest 4.
std::optional<ClosestPair> closest_pair(std::span<const double> positions, const double* cell,
                                        const std::array<bool, 3>& periodic, double bound);

}  // namespace weyl
