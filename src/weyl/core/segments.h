#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

using at::Tensor;

/// Consecutive ragged groups of rows: rows offsets[s] .. offsets[s+1] belong to segment s. Offsets live on
/// the host (loop bounds without a device sync); `index` (N) int64, the segment of each row, on the device.
struct Segments {
  std::vector<int64_t> offsets{0};
  Tensor index;

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t rows() const { return offsets.back(); }
  int64_t size(int64_t s) const { return offsets[s + 1] - offsets[s]; }
  int64_t longest() const;
  bool uniform() const;  // all segments have the same, nonzero size
  std::vector<int64_t> sizes() const;
  int64_t pairs() const;  // sum of squared sizes

  static Segments of_sizes(std::span<const int64_t> sizes, at::Device device = at::kCPU);
  /// ShapeError unless 0 = o0 <= o1 <= ...
  static Segments of_offsets(std::vector<int64_t> offsets, at::Device device = at::kCPU);
  Segments to(at::Device device) const;
};

}  // namespace weyl
