#include "weyl/nn/linear.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <cmath>

namespace weyl {

Linear::Linear(int64_t in, int64_t out, bool bias, LinearInit init) {
  const bool xavier = init == LinearInit::xavier;
  const double bound = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  const double wide = std::sqrt(6 / static_cast<double>(std::max<int64_t>(in + out, 1)));
  weight_ = parameter("weight", {out, in}, Init::uniform(xavier ? wide : bound), /*decay=*/true);
  if (bias) {
    bias_ = parameter("bias", {out}, xavier ? Init::zeros() : Init::uniform(bound));
  }
}

void Linear::scale_init(double factor) {
  const at::NoGradGuard quiet;
  weight_.mul_(factor);
}

Tensor Linear::operator()(const Tensor& x) const {
  return at::linear(x, weight_, bias_);
}

Tensor Linear::without_bias(const Tensor& x) const {
  return at::linear(x, weight_);
}

}  // namespace weyl
