#pragma once

#include <span>

#include "weyl/carriers/batch.h"

namespace weyl {

/// Changes masks (B, 1, spatial...) int64, of images or volumes: of each of `classes` the largest part alone stays whose cells
/// are joined by faces (of images by sides), of equal ones the first in memory; the other cells of the class become 0. The masks
/// are changed in place where they are on the CPU, else replaced. Time and memory: O(cells).
/// ShapeError: neither two nor three axes of space.
void keep_largest_components(Tensor& masks, std::span<const int64_t> classes);

}  // namespace weyl
