#pragma once

#include <span>
#include <vector>

#include "weyl/carriers/batch.h"

namespace weyl {

class Stream;

/// A part of a grid: begin[a] .. begin[a] + size[a] along axis a. What lies outside the grid is 0.
struct Crop {
  std::vector<int64_t> begin, size;
};

/// That part of every grid of a batch and of its labels of node level. ShapeError: not a grid, or another
/// number of axes.
Batch cropped(const Batch& batch, const Crop& crop, const Schema& schema);

/// A place for a crop in a batch of one grid: with probability `foreground` around a uniform cell of those
/// where a category of node level is not 0 (if there is one), else uniform; always inside the grid, but along
/// an axis shorter than the crop, where the grid stands in the middle. One size: along all axes. ShapeError:
/// more than one grid, another number of axes.
Crop random_crop(const Batch& one, std::span<const int64_t> size, double foreground, const Schema& schema,
                 Stream& stream);

/// The largest part in the middle that is at most `size` along each axis.
Crop central_crop(const Grid& grid, std::span<const int64_t> size);

}  // namespace weyl
