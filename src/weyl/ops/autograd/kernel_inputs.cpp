#include "weyl/ops/autograd/kernel_inputs.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <atomic>

#include "weyl/ops/autograd/parallel.h"
#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace {

std::atomic<int> without_kernels{0};

bool kernels_of(at::DeviceType where, const Tensors& inputs) {
  if (WithoutKernels::active()) {
    return false;
  }
  const Tensor* first = nullptr;
  for (const Tensor& x : inputs) {
    if (!x.defined()) {
      continue;
    }
    first = first == nullptr ? &x : first;
    if (x.device().type() != where || x.device() != first->device() || x.layout() != at::kStrided ||
        x.scalar_type() != first->scalar_type()) {
      return false;
    }
  }
  return first != nullptr && (first->scalar_type() == at::kFloat || first->scalar_type() == at::kDouble);
}

}  // namespace

WithoutKernels::WithoutKernels() {
  ++without_kernels;
}
WithoutKernels::~WithoutKernels() {
  --without_kernels;
}
bool WithoutKernels::active() {
  return without_kernels.load(std::memory_order_relaxed) > 0;
}

bool kernels_take(const Tensors& inputs) {
  return kernels_of(at::kCPU, inputs);
}

bool cuda_kernels_take(const Tensors& inputs) {
  return kernels::has_cuda_kernels() && kernels_of(at::kCUDA, inputs);
}

void share_or_queue(at::Device device, int64_t rows, double nanoseconds,
                    const std::function<void(int64_t, int64_t)>& work) {
  if (device.is_cuda()) {
    const c10::DeviceGuard guard(device);
    const kernels::OnStream on(c10::impl::VirtualGuardImpl(at::kCUDA).getStream(device).native_handle());
    work(0, rows);
    return;
  }
  share_out(rows, workers_worth(rows, nanoseconds),
            [&](int64_t, int64_t first, int64_t last) { work(first, last); });
}

}  // namespace weyl
