#include "weyl/nn/activation.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>

#include "weyl/nn/activation_law.h"

namespace weyl {

at::Tensor activate(const at::Tensor& x, Activation law) {
  if (x.dim() == 2) {
    return bias_activation(x, {}, law_of(law));
  }
  switch (law) {
    case Activation::gelu:
      return at::gelu(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::relu:
      return at::relu(x);
    case Activation::mish:
      return at::mish(x);
  }
  return x;
}

ActivationLaw law_of(Activation law) {
  switch (law) {
    case Activation::gelu:
      return ActivationLaw::gelu;
    case Activation::silu:
      return ActivationLaw::silu;
    case Activation::relu:
      return ActivationLaw::relu;
    case Activation::mish:
      return ActivationLaw::mish;
  }
  return ActivationLaw::gelu;
}

}  // namespace weyl
