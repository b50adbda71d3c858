#include "weyl/ops/constants.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

namespace weyl {
namespace {

template <class T>
Tensor kept(at::ArrayRef<T> values, at::ScalarType host, at::ScalarType dtype, at::Device device) {
  const auto make = [&] { return at::tensor(values, host).to(dtype); };
  if (device.is_cpu()) {
    return make();
  }
  using Key = std::tuple<std::vector<T>, at::ScalarType, at::DeviceType, at::DeviceIndex>;
  // Never freed: when a process ends, a device may be gone before its tensors are.
  static auto& mutex = *new std::mutex;
  static auto& made = *new std::map<Key, Tensor>;
  const std::scoped_lock lock(mutex);
  Tensor& constant = made[{values.vec(), dtype, device.type(), device.index()}];
  if (!constant.defined()) {
    const at::NoGradGuard no_grad;
    constant = make().to(device);
  }
  return constant;
}

}  // namespace

Tensor constant(at::IntArrayRef values, at::Device device) {
  return kept<int64_t>(values, at::kLong, at::kLong, device);
}

Tensor constant(at::ArrayRef<double> values, at::ScalarType dtype, at::Device device) {
  return kept<double>(values, at::kDouble, dtype, device);
}

}  // namespace weyl
