#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace weyl {

using at::Tensor;

/// Consecutive ragged groups of rows: rows offsets[s] .. offsets[s+1] belong to segment s. The offsets live on the
/// host, so that loop bounds need no device sync. `index` (N) int64, the segment of each row, lives on the device.
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
  /// From offsets and an `index` that is on its device already; the two are not compared.
  static Segments of_index(std::vector<int64_t> offsets, Tensor index);
  Segments to(at::Device device) const;

  /// The device of the tables of these segments, which is that of `index`.
  at::Device device() const { return index.defined() ? index.device() : at::Device(at::kCPU); }

  /// A cache of tensors that follow from the offsets alone. `make` is called when `name` is first asked for; its
  /// tensors may be on any device and are brought to that of `index`. They are kept for all copies of these segments.
  /// So a table that an op needs in each call is brought to the device once a batch, and the device's queue does not
  /// wait for the host.
  const std::vector<Tensor>& table(std::string_view name,
                                   const std::function<std::vector<Tensor>()>& make) const;
  /// On the device: the offsets (B+1) int32, and the sizes (B) int64. ShapeError for offsets beyond int32.
  const Tensor& offsets_on_device() const;
  const Tensor& sizes_on_device() const;

 private:
  struct Tables;
  std::shared_ptr<Tables> tables_;  // null: there are no segments
};

}  // namespace weyl
