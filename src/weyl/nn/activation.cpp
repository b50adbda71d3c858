#include "weyl/nn/activation.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include "weyl/ops/frames/bias_activation.h"

namespace weyl {

at::Tensor activate(const at::Tensor& x, Activation law) {
  switch (law) {
    case Activation::gelu:
      return x.dim() == 2 ? bias_gelu(x, {}) : at::gelu(x);
    case Activation::silu:
      return x.dim() == 2 ? bias_silu(x, {}) : at::silu(x);
    case Activation::relu:
      return at::relu(x);
    case Activation::mish:
      return at::mish(x);
  }
  return x;
}

}  // namespace weyl
