#include "weyl/models/steerable/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/steerable/irrep_norms.h"

namespace weyl::steerable {
namespace {

constexpr double floor_ = 1e-5;  // below it lengths count as this: no division by zero, finite gradients
constexpr double momentum = 0.1;

/// Lengths as if each vector had one component more, of 1e-5.
Tensor lengths(const Tensor& squares) {
  return (squares + floor_ * floor_).sqrt();
}

}  // namespace

NormActivation::NormActivation(const SteerableType& type, Law law, double init) : type_(type), law_(law) {
  require(init <= 0, "NormActivation: biases must be initialised at zero or below, got ", init);
  bias_ = parameter("bias", {type.multiplicity()}, Init::constant(init));
}

Tensor NormActivation::operator()(const Tensor& x) const {
  const Tensor n = lengths(irrep_squares(x, type_)), bias = along_channels(bias_, n), inner = n + bias;
  return scale_irreps(x, (law_ == Law::relu ? at::relu(inner) : at::gelu(inner) - at::gelu(bias)) / n, type_);
}

GatedActivation::GatedActivation(const SteerableType& out) : in_(out), out_(out) {
  in_.channels.front() += (out.multiplicity() + 1) / 2;
}

Tensor GatedActivation::operator()(const Tensor& x) const {
  require(x.defined() && x.dim() >= 2 && x.size(1) == 2 * in_.width(), "GatedActivation: x must be (B, ",
          2 * in_.width(), ", ...), got ", x.defined() ? x.sizes() : at::IntArrayRef{});
  const int64_t trivial = out_.channels.front(), gates = in_.channels.front() - trivial;
  const Tensor parts = x.unflatten(1, {2, in_.width()});
  const Tensor features =
      at::cat({parts.narrow(2, 0, trivial), parts.narrow(2, trivial + gates, out_.width() - trivial)}, 2);
  const Tensor gate =
      at::sigmoid(parts.narrow(2, trivial, gates)).flatten(1, 2).narrow(1, 0, out_.multiplicity());
  return scale_irreps(features.flatten(1, 2), gate, out_);
}

Norm::Norm(const SteerableType& type, Law law) : type_(type), law_(law) {
  const bool alike = std::all_of(type.channels.begin(), type.channels.end(),
                                 [&](int64_t c) { return c == type.channels.front(); });
  require(law != Law::joint || alike, "SteerableNorm: a joint norm needs the same channels for all irreps");
  if (law == Law::layer) {
    weight_ = parameter("weight", {type.multiplicity()}, Init::ones());
  }
}

Tensor Norm::operator()(const Tensor& x) const {
  Tensor squares = irrep_squares(x, type_);
  if (law_ == Law::layer) {
    return scale_irreps(x, along_channels(weight_, squares) / lengths(squares.mean(1, /*keepdim=*/true)),
                        type_);
  }
  if (law_ == Law::joint) {
    const Tensor of_irreps = squares.unflatten(1, {type_.irreps(), type_.channels.front()});
    squares = of_irreps.sum(1, /*keepdim=*/true).expand_as(of_irreps).flatten(1, 2);
  }
  return scale_irreps(x, 1 / lengths(squares), type_);
}

BatchNorm::BatchNorm(const SteerableType& type) : type_(type) {
  const int64_t multiplicity = type.multiplicity();
  weight_ = parameter("weight", {multiplicity}, Init::ones());
  bias_ = complex_parameter("bias", at::zeros({type.channels.front(), 2}, at::kDouble));
  mean_square_ = parameter("mean_square", at::ones({multiplicity}, at::kDouble), false, /*trainable=*/false);
  for (int64_t l = 0; l < type.irreps(); ++l) {
    components_.insert(components_.end(), static_cast<size_t>(type.channels[l]),
                       static_cast<double>(type.components(l)));
  }
}

Tensor BatchNorm::operator()(const Tensor& features) const {
  const Tensor x = widened(features);
  Tensor mean = mean_square_.to(x.scalar_type());
  if (training() && x.numel() > 0) {
    const Tensor squares = irrep_squares(x, type_).transpose(0, 1).flatten(1).mean(1);
    mean = squares / constant(components_, squares.scalar_type(), squares.device());
    const at::NoGradGuard no_grad;
    mean_square_.detach().mul_(1 - momentum).add_(mean.detach(), momentum);
  }
  const Tensor factors = weight_.to(x.scalar_type()) / lengths(mean);
  const Tensor scaled = scale_irreps(x, along_channels(factors, x), type_);
  // The trivial irrep's channels stand first.
  const Tensor bias = at::constant_pad_nd(bias_.to(x.scalar_type()).transpose(0, 1),
                                          {0, type_.width() - type_.channels.front()});
  return scaled + along_channels(bias.flatten(), scaled);
}

}  // namespace weyl::steerable
