#include "weyl/nn/linear.h"

#include <ATen/ops/linear.h>

#include <cmath>

namespace weyl {

Linear::Linear(int64_t in, int64_t out, bool bias) {
  const double bound = in > 0 ? 1 / std::sqrt(static_cast<double>(in)) : 0;
  weight_ = parameter("weight", {out, in}, Init::uniform(bound), /*decay=*/true);
  if (bias) {
    bias_ = parameter("bias", {out}, Init::uniform(bound));
  }
}

Tensor Linear::operator()(const Tensor& x) const {
  return at::linear(x, weight_, bias_);
}

}  // namespace weyl
