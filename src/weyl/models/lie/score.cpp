#include "weyl/models/lie/score.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/unbind.h>

#include <cmath>

#include "weyl/ops/lie/pair_network.h"

namespace weyl {
namespace {

constexpr int64_t hidden = 32;   // of the network of C
constexpr double floor_ = 1e-3;  // of lambda and tau

Tensor positive(const Tensor& raw) {
  return at::softplus(raw) + floor_;
}

}  // namespace

Tensor LieLayerScore::operator()(const LiePairs& pairs) const {
  if (ratios.defined()) {
    return at::matmul(-ratios, pairs.squares.t()).t();  // head by head, as the attention reads them
  }
  return pair_network(pairs.coordinates, pairs.present, first, first_bias, second, second_bias);
}

LieNormScore::LieNormScore(int64_t layers, int64_t heads, int64_t blocks)
    : heads_(heads),
      blocks_(blocks),
      weight_(parameter("weight", {layers, heads, blocks}, Init::zeros())),
      temperature_(parameter("temperature", {layers, heads}, Init::zeros())) {}

std::vector<LieLayerScore> LieNormScore::layers() const {
  const Tensor ratios = positive(weight_) / positive(temperature_).unsqueeze(2);
  std::vector<LieLayerScore> layers;
  for (const Tensor& layer : ratios.unbind(0)) {
    layers.push_back({.ratios = layer});
  }
  return layers;
}

LieKernelScore::LieKernelScore(int64_t layers, int64_t heads, int64_t coordinates)
    : heads_(heads), coordinates_(coordinates) {
  // Initialised as torch initialises linear layers.
  const double first = 1 / std::sqrt(static_cast<double>(coordinates)),
               second = 1 / std::sqrt(static_cast<double>(hidden));
  first_weight_ = parameter("first.weight", {layers, heads * hidden, coordinates}, Init::uniform(first));
  first_bias_ = parameter("first.bias", {layers, heads * hidden}, Init::uniform(first));
  second_weight_ = parameter("second.weight", {layers, heads, hidden}, Init::uniform(second));
  second_bias_ = parameter("second.bias", {layers, heads}, Init::uniform(second));
}

std::vector<LieLayerScore> LieKernelScore::layers() const {
  const auto first = first_weight_.unbind(0), first_bias = first_bias_.unbind(0),
             second = second_weight_.unbind(0), second_bias = second_bias_.unbind(0);
  std::vector<LieLayerScore> layers;
  for (size_t l = 0; l < first.size(); ++l) {
    layers.push_back({{}, first[l], first_bias[l], second[l], second_bias[l]});
  }
  return layers;
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
