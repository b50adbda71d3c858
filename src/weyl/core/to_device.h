#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

/// A tensor on a device. To CUDA the host queues the copy, from pinned memory, and does not wait until the device has come
/// to it; LibTorch keeps that memory until then.
inline at::Tensor to_device(const at::Tensor& tensor, at::Device device) {
  return device.is_cuda() && tensor.is_cpu()
             ? tensor.contiguous().pin_memory().to(device, /*non_blocking=*/true)
             : tensor.to(device);
}

}  // namespace weyl
