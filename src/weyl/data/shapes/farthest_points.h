#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weyl {

/// Farthest-point sampling (Eldar et al., 1997): `count` different rows of points (P, 3), each the one that is farthest
/// from all before it, the lowest row of equals. It begins with the row `first`, or, without one, with the point
/// farthest from the mean of all, so that nothing is drawn. Time and memory: O(count P), O(P). ShapeError: points that
/// are not (P, 3), a count outside 1 .. P, no such row.
std::vector<int64_t> farthest_points(std::span<const double> points, int64_t count,
                                     std::optional<int64_t> first = {});

}  // namespace weyl
