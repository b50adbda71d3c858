#pragma once

#include <array>
#include <cstdint>

#include "weyl/core/segments.h"
#include "weyl/data/volumes/options.h"

namespace weyl {

/// A grid laid over another one, with the same middle: `cells` along each axis, their distances in cells of the other.
struct GridChange {
  std::array<int64_t, 3> cells{};
  std::array<double, 3> step{1, 1, 1};
};

/// The grid of another spacing over `cells` of a `spacing`: as many cells as come nearest to the same extent, at least
/// one. Axes whose spacing stays (same_spacing) stay as they are.
GridChange change_of_spacing(const std::array<int64_t, 3>& cells, const std::array<double, 3>& spacing,
                             const std::array<double, 3>& wanted);

/// Values (C, X, Y, Z) float32 on another grid, axis after axis. A value is the mean of those around its place, weighed by
/// the triangle of linear interpolation or Keys's cubic (a = -1/2), whose width is one cell of whichever grid is coarser:
/// that is the low-pass without which finer structures would be aliased. Beyond the edge there is nothing to weigh: the
/// weights that are left count alone.
Tensor resampled(const Tensor& values, const GridChange& change, Interpolation interpolation);

/// Classes (X, Y, Z) uint8 below `classes` on another grid: the one whose share, interpolated linearly, is largest; of
/// equals the lowest.
Tensor resampled_classes(const Tensor& mask, int64_t classes, const GridChange& change);

/// The place of the largest of (K, X, Y, Z) along the first axis, (X, Y, Z) int64; of those that are equal to within
/// rounding the lowest.
Tensor most_likely(const Tensor& probabilities);

}  // namespace weyl
