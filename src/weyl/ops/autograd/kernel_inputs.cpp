#include "weyl/ops/autograd/kernel_inputs.h"

#include <atomic>

#include "weyl/ops/autograd/without_kernels.h"

namespace weyl {
namespace {

std::atomic<int> without_kernels{0};

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
  if (WithoutKernels::active()) {
    return false;
  }
  at::ScalarType type = at::ScalarType::Undefined;
  for (const Tensor& x : inputs) {
    if (!x.defined()) {
      continue;
    }
    if (type == at::ScalarType::Undefined) {
      type = x.scalar_type();
    }
    if (!x.device().is_cpu() || x.layout() != at::kStrided || x.scalar_type() != type) {
      return false;
    }
  }
  return type == at::kFloat || type == at::kDouble;
}

}  // namespace weyl
