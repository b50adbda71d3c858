#include "weyl/ops/edges/exp_or_zero.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>

namespace weyl {

Tensor exp_or_zero(const Tensor& x) {
  return at::exp(x).masked_fill(x < -64, 0);
}

}  // namespace weyl
