#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace weyl::steerable {

using at::Tensor;

/// Averages over `size` pixels along each axis, (B, C, pixels...) -> (B, C, pixels / size...). What is left
/// over at the end is dropped, and then the pooling does not turn with the grid. ShapeError when nothing is
/// left.
Tensor average_pool(const Tensor& x, int64_t size);

/// Linear interpolation to exactly these pixels, between the pixels' centres (half-pixel convention): it
/// turns with the grid whatever the sizes. (B, C, pixels...) -> (B, C, sizes...). x itself when it has them.
Tensor upsample(const Tensor& x, at::IntArrayRef sizes);

}  // namespace weyl::steerable
