#include "weyl/ops/autograd/kernel_inputs.h"

namespace weyl {

bool kernels_take(const Tensors& inputs) {
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
