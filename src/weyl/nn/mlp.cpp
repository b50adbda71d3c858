#include "weyl/nn/mlp.h"

#include "weyl/core/check.h"
#include "weyl/ops/frames/bias_activation.h"

namespace weyl {

Mlp::Mlp(int64_t in, int64_t hidden, int64_t out, Activation law, LinearInit init)
    : law_(law),
      first_(child("0", std::make_shared<Linear>(in, hidden, /*bias=*/true, init))),
      second_(child("2", std::make_shared<Linear>(hidden, out, /*bias=*/true, init))) {}

Tensor Mlp::operator()(const Tensor& x) const {
  return (*second_)(activate((*first_)(x), law_));
}

Tensor Mlp::fused_without_bias(const Tensor& x) const {
  require(law_ == Activation::gelu, "mlp: the fused form is that of a GELU");
  return second_->without_bias(bias_gelu(first_->without_bias(x), first_->bias()));
}

}  // namespace weyl
