#pragma once

#include <ATen/core/Tensor.h>

#include <array>

namespace weyl {

/// Values on a regular grid: images (B, C, H, W) or volumes (B, C, X, Y, Z), one size per batch.
struct Grid {
  at::Tensor values;
  std::array<double, 3> spacing{1, 1, 1};

  int64_t count() const { return values.size(0); }
};

}  // namespace weyl
