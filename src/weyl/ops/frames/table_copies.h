#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <mutex>
#include <utility>

namespace weyl {

using at::Tensor;

/// A constant table, float64 on the host, and its copies on other devices and of other types, each made on first use.
/// Thread-safe.
class TableCopies {
 public:
  explicit TableCopies(Tensor table) : table_(std::move(table)) {}
  Tensor on(at::Device device, at::ScalarType dtype) const;

 private:
  const Tensor table_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::pair<at::DeviceType, at::DeviceIndex>, at::ScalarType>, Tensor> copies_;
};

}  // namespace weyl
