#include "weyl/models/gatr/nonlinearity.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>

#include "weyl/ops/multivectors/gate.h"

namespace weyl::gatr {
namespace {

Tensor activated(const Tensor& s, MultivectorGate activation) {
  switch (activation) {
    case MultivectorGate::gelu:
      return at::gelu(s);
    case MultivectorGate::relu:
      return at::relu(s);
    case MultivectorGate::sigmoid:
      return at::sigmoid(s);
  }
  return {};
}

}  // namespace

Streams gated(const Streams& x, MultivectorGate activation) {
  return {gate_multivectors(x.multivectors, activation), activated(x.scalars, activation)};
}

}  // namespace weyl::gatr
