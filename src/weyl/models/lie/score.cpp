#include "weyl/models/lie/score.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softplus.h>

#include <cmath>

#include "weyl/ops/gelu.h"

namespace weyl {
namespace {

constexpr int64_t hidden = 32;   // of the network of C
constexpr double floor_ = 1e-3;  // of lambda and tau

Tensor positive(const Tensor& raw) {
  return at::softplus(raw) + floor_;
}

}  // namespace

LieNormScore::LieNormScore(int64_t layers, int64_t heads, int64_t blocks)
    : heads_(heads),
      blocks_(blocks),
      weight_(parameter("weight", {layers, heads, blocks}, Init::zeros())),
      temperature_(parameter("temperature", {layers, heads}, Init::zeros())) {}

Tensor LieNormScore::ratios(int64_t l) const {
  return positive(weight_.select(0, l)) / positive(temperature_.select(0, l)).unsqueeze(1);
}

Tensor LieNormScore::operator()(int64_t l, const Tensor&, const Tensor& squares) const {
  return at::matmul(-ratios(l), squares.t()).t();  // head by head, as the attention reads them
}

LieKernelScore::LieKernelScore(int64_t layers, int64_t heads, int64_t coordinates)
    : heads_(heads), coordinates_(coordinates) {
  // Started as torch starts linear layers.
  const double first = 1 / std::sqrt(static_cast<double>(coordinates)),
               second = 1 / std::sqrt(static_cast<double>(hidden));
  first_weight_ =
      parameter("first.weight", {layers, heads * hidden, coordinates}, Init::uniform(first), true);
  first_bias_ = parameter("first.bias", {layers, heads * hidden}, Init::uniform(first));
  second_weight_ = parameter("second.weight", {layers, heads, hidden}, Init::uniform(second), true);
  second_bias_ = parameter("second.bias", {layers, heads}, Init::uniform(second));
}

Tensor LieKernelScore::operator()(int64_t l, const Tensor& w, const Tensor&) const {
  const Tensor inner =
      bias_gelu(at::linear(w.contiguous(), first_weight_.select(0, l)), first_bias_.select(0, l));
  // One product with all heads' second layers, (H, H 32), each among the columns of its own head.
  const Tensor one = at::eye(heads_, second_weight_.options().requires_grad(false)).unsqueeze(2);
  const Tensor second = (one * second_weight_.select(0, l)).view({heads_, heads_ * hidden});
  return at::linear(inner, second, second_bias_.select(0, l));
}

double LieKernelScore::flops() const {
  return 2.0 * static_cast<double>(heads_ * hidden * (coordinates_ + 1));
}

std::shared_ptr<LieScore> make_score(const LieOptions& options, int64_t blocks, int64_t coordinates) {
  if (options.variant == LieVariant::C) {
    return std::make_shared<LieKernelScore>(options.blocks, options.heads, coordinates);
  }
  return std::make_shared<LieNormScore>(options.blocks, options.heads, blocks);
}

}  // namespace weyl
