#pragma once

#include <cstdint>
#include <span>

namespace weyl {

/// What counts as one place, of the largest extent of the points.
constexpr double coincidence = 1e-9;

/// Whether two of the points x (N, D), row-major, are at one place: no coordinate differs by more than
/// `coincidence` times the difference of the largest and the smallest number in x. Points that are not finite
/// are left out. Time N log N whatever the points, also for flat and collinear ones.
bool has_coincident(std::span<const double> x, int64_t dimension);

}  // namespace weyl
