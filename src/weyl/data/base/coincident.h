#pragma once

#include <cstdint>
#include <span>

namespace weyl {

/// The distance within which points count as one place, as a share of the extent of all points.
constexpr double coincidence = 1e-9;

/// Whether two of the points x (N, D), row-major, are at one place: no coordinate of theirs differs by more than
/// `coincidence` times the difference of the largest and the smallest number in x. Points that are not finite are left
/// out. It takes O(N log N) time for all points, also flat and collinear ones.
bool has_coincident(std::span<const double> x, int64_t dimension);

}  // namespace weyl
