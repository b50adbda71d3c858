#include "weyl/nn/norms.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/zeros.h>

#include "weyl/core/check.h"
#include "weyl/nn/shared_batch.h"
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

namespace {

constexpr double momentum = 0.1;

}  // namespace

BatchNorm::BatchNorm(int64_t channels, double epsilon) : epsilon_(epsilon) {
  weight_ = parameter("weight", {channels}, Init::ones());
  bias_ = parameter("bias", {channels}, Init::zeros());
  mean_ = parameter("running_mean", at::zeros({channels}, at::kDouble), false, /*trainable=*/false);
  var_ = parameter("running_var", at::ones({channels}, at::kDouble), false, /*trainable=*/false);
}

Tensor BatchNorm::operator()(const Tensor& rows) const {
  require(rows.defined() && rows.dim() == 2 && rows.size(1) == weight_.size(0), "BatchNorm: x must be (B, ",
          weight_.size(0), "), got ", rows.defined() ? rows.sizes() : at::IntArrayRef{});
  const Tensor x = widened(rows);
  Tensor mean = mean_.detach(), var = var_.detach();
  auto n = static_cast<double>(x.size(0));
  const bool shared = training() && SharedBatch::active();
  const BatchMoments moments = shared ? moments_of_shared_batch(x.t()) : BatchMoments{};
  n = shared ? moments.count : n;
  if (training() && n > 1) {
    mean = shared ? moments.mean : x.mean(0);
    var = shared ? moments.variance : (x - mean).square().mean(0);
    const at::NoGradGuard constant;
    mean_.detach().mul_(1 - momentum).add_(mean.detach(), momentum);
    var_.detach().mul_(1 - momentum).add_(var.detach(), momentum * n / (n - 1));
  }
  return (x - mean.to(x.scalar_type())) * (var.to(x.scalar_type()) + epsilon_).rsqrt() *
             weight_.to(x.scalar_type()) +
         bias_.to(x.scalar_type());
}

}  // namespace weyl
