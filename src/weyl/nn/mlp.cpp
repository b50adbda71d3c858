#include "weyl/nn/mlp.h"

#include "weyl/nn/activation_law.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl {

Mlp::Mlp(int64_t in, int64_t hidden, int64_t out, Activation law, LinearInit init)
    : law_(law),
      first_(child("0", std::make_shared<Linear>(in, hidden, /*bias=*/true, init))),
      second_(child("2", std::make_shared<Linear>(hidden, out, /*bias=*/true, init))) {}

Tensor Mlp::operator()(const Tensor& x) const {
  return (*second_)(activate((*first_)(x), law_));
}

Tensor Mlp::without_bias(const Tensor& x) const {
  return second_->without_bias(
      bias_activation(widened(first_->without_bias(x)), first_->bias(), law_of(law_)));
}

}  // namespace weyl
