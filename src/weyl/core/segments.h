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
  /// Of offsets whose `index` is there already, on its device: it is not checked against them.
  static Segments of_index(std::vector<int64_t> offsets, Tensor index);
  Segments to(at::Device device) const;

  /// Where the tables of these segments live: the device of `index`.
  at::Device device() const { return index.defined() ? index.device() : at::Device(at::kCPU); }

  /// Tensors that follow from the offsets alone: what `make` gives (on any device, it is brought to that of the index),
  /// made when `name` is first asked for and kept for all copies of these segments. So an op that needs a table in each
  /// of its calls has it brought to a device once a batch, and the queue of the device does not wait for the host.
  const std::vector<Tensor>& table(std::string_view name,
                                   const std::function<std::vector<Tensor>()>& make) const;
  /// (B+1) int32: the offsets; (B) int64: the sizes, both on the device.
  const Tensor& offsets_on_device() const;
  const Tensor& sizes_on_device() const;

 private:
  struct Tables;
  std::shared_ptr<Tables> tables_;  // null: there are no segments
};

}  // namespace weyl
