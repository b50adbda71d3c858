#include "weyl/ops/gelu.h"

#include <ATen/ops/gelu.h>

#include "weyl/core/check.h"
#include "weyl/ops/frames.h"

namespace weyl {

Tensor bias_gelu(const Tensor& x, const Tensor& bias) {
  require_frames("bias_gelu", x, bias);
  return at::gelu(add_to_frames(x, bias));
}

}  // namespace weyl
