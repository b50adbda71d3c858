#include "weyl/nn/dropout.h"

#include <ATen/ops/empty.h>

namespace weyl {

at::Tensor dropout_noise(at::IntArrayRef sizes, double rate, const at::TensorOptions& options) {
  if (rate <= 0) {
    return {};
  }
  const double keep = 1 - rate;
  return at::empty(sizes, options).bernoulli_(keep).div_(keep);
}

}  // namespace weyl
