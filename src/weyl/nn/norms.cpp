#include "weyl/nn/norms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>

#include "weyl/ops/autograd/full_precision.h"

namespace weyl {

Tensor normalise_layer(const Tensor& x, double epsilon) {
  return at::layer_norm(x, {x.size(-1)}, {}, {}, epsilon);
}

LayerNorm::LayerNorm(int64_t channels, double epsilon)
    : epsilon_(epsilon),
      weight_(parameter("weight", {channels}, Init::ones())),
      bias_(parameter("bias", {channels}, Init::zeros())) {}

Tensor LayerNorm::operator()(const Tensor& x) const {
  return at::layer_norm(x, {x.size(-1)}, weight_, bias_, epsilon_);
}

RmsNorm::RmsNorm(int64_t channels, double epsilon)
    : epsilon_(epsilon), weight_(parameter("weight", {channels}, Init::ones())) {}

Tensor RmsNorm::operator()(const Tensor& x) const {
  const Tensor wide = widened(x);
  const Tensor quotient = wide * at::rsqrt((wide * wide).mean(-1, /*keepdim=*/true) + epsilon_);
  return quotient.to(x.scalar_type()) * weight_;
}

}  // namespace weyl
