#pragma once

#include <ATen/core/Tensor.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "weyl/algebra/finite/finite_group.h"

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

using at::Tensor;

class FourierTables;

/// The tables of a finite group as tensors, made once per device (and dtype) on first use. Thread-safe.
/// Modules hold one; it is no buffer, so a module's `to(dtype)` never touches an index.
class GroupTables {
 public:
  explicit GroupTables(GroupPtr group) : group_(std::move(group)) {}
  const FiniteGroup& group() const { return *group_; }
  const GroupPtr& group_ptr() const { return group_; }

  Tensor elements(at::Device, at::ScalarType) const;      // (G, D, D)
  Tensor determinants(at::Device, at::ScalarType) const;  // (G)
  Tensor left_quotients(at::Device) const;                // (G, G) int64: [h][g] = index of g^-1 h
  /// (G) int64, the left regular representation of g as an index table: new[j] = old[g^-1 j]. ShapeError
  /// unless 0 <= g < G.
  Tensor translation(int64_t g, at::Device) const;
  /// Of the Fourier transform on the group, made on first use (50 ms for I_h).
  std::shared_ptr<const FourierTables> fourier() const;

 private:
  /// The table of that name and index on the device, made on the host by `make` the first time.
  template <class Make>
  Tensor cached(const std::string& what, int64_t index, at::Device device, Make make) const;

  GroupPtr group_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, int64_t>, Tensor> cache_;
  mutable std::shared_ptr<const FourierTables> fourier_;
};

}  // namespace weyl
