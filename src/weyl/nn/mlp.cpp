#include "weyl/nn/mlp.h"

namespace weyl {

Mlp::Mlp(int64_t in, int64_t hidden, int64_t out, Activation law, LinearInit init)
    : law_(law),
      first_(child("0", std::make_shared<Linear>(in, hidden, /*bias=*/true, init))),
      second_(child("2", std::make_shared<Linear>(hidden, out, /*bias=*/true, init))) {}

Tensor Mlp::operator()(const Tensor& x) const {
  return (*second_)(activate((*first_)(x), law_));
}

}  // namespace weyl
