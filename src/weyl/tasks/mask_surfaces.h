#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

/// A mask on a grid of cells, in space (nx, ny, nz), in the plane (1, ny, nx), and the distance of neighbours along each axis.
struct MaskView {
  std::span<const uint8_t> cells;  // row-major; not 0: inside
  std::array<int64_t, 3> sizes{1, 1, 1};
  std::array<double, 3> spacing{1, 1, 1};
  bool plane =
      false;  // of an image, whose cells have no faces along the first axis; a volume of one slice has
};

/// The cells of a mask that have a face on what is outside of it (the mask less its erosion by the six neighbours, in the plane by
/// four); outside of the grid nothing is inside.
std::vector<uint8_t> surface_of(const MaskView& mask);

/// For each cell the distance of its centre to that of the nearest cell that is inside; infinite where none is. Exact: squares of
/// distances by the lower envelope of parabolas, one axis after the other (Felzenszwalb and Huttenlocher 2012), float64. Time and
/// memory: O(cells).
std::vector<double> distances_to(const MaskView& mask);

/// How the surfaces of two masks of one grid lie to one another: for each cell of one surface the distance to the nearest of the
/// other. Empty where that mask is; infinite where the other one is.
struct SurfaceDistances {
  std::vector<double> from_first, from_second;
};
/// ShapeError: other sizes or spacings.
SurfaceDistances surface_distances(const MaskView& first, const MaskView& second);

/// Hausdorff distance of two surfaces at the 95th percentile: the larger of those of both directions, or with `pooled` that of all
/// distances together (as medpy has it). Infinite where one mask alone is empty, NaN where both are.
double hd95(const SurfaceDistances& distances, bool pooled);

/// Which part of both surfaces' cells lie no farther than `tolerance` from the other surface (by a hundred-thousandth of it more, since
/// files have spacings of float32, and a voxel is a usual tolerance): 0 where one mask alone is empty, NaN
/// where both are.
double surface_dice(const SurfaceDistances& distances, double tolerance);

}  // namespace weyl
