#include "weyl/models/lie/score.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/unbind.h>

#include <cmath>

#include "weyl/ops/lie/pair_network.h"

namespace weyl::lie {
namespace {

constexpr int64_t hidden = 32;   // of the network of C
constexpr double floor_ = 1e-3;  // of lambda and tau

Tensor positive(const Tensor& raw) {
  return at::softplus(raw) + floor_;
}

}  // namespace

Tensor LayerScore::operator()(const Pairs& pairs) const {
  if (ratios.defined()) {
    return at::matmul(-ratios, pairs.squares.t()).t();  // head by head, as the attention reads them
  }
  return pair_network(pairs.coordinates, pairs.present, first, first_bias, second, second_bias);
}

NormScore::NormScore(int64_t layers, int64_t heads, int64_t blocks)
    : heads_(heads),
      blocks_(blocks),
      weight_(parameter("weight", {layers, heads, blocks}, Init::zeros())),
      temperature_(parameter("temperature", {layers, heads}, Init::zeros())) {}

std::vector<LayerScore> NormScore::layers() const {
  const Tensor ratios = positive(weight_) / positive(temperature_).unsqueeze(2);
  std::vector<LayerScore> layers;
  for (const Tensor& layer : ratios.unbind(0)) {
    layers.push_back({.ratios = layer});
  }
  return layers;
}

KernelScore::KernelScore(int64_t layers, int64_t heads, int64_t coordinates)
    : heads_(heads), coordinates_(coordinates) {
  // Initialised as torch initialises linear layers.
  const double first = 1 / std::sqrt(static_cast<double>(coordinates)),
               second = 1 / std::sqrt(static_cast<double>(hidden));
  first_weight_ = parameter("first.weight", {layers, heads * hidden, coordinates}, Init::uniform(first));
  first_bias_ = parameter("first.bias", {layers, heads * hidden}, Init::uniform(first));
  second_weight_ = parameter("second.weight", {layers, heads, hidden}, Init::uniform(second));
  second_bias_ = parameter("second.bias", {layers, heads}, Init::uniform(second));
}

std::vector<LayerScore> KernelScore::layers() const {
  const auto first = first_weight_.unbind(0), first_bias = first_bias_.unbind(0),
             second = second_weight_.unbind(0), second_bias = second_bias_.unbind(0);
  std::vector<LayerScore> layers;
  for (size_t l = 0; l < first.size(); ++l) {
    layers.push_back({{}, first[l], first_bias[l], second[l], second_bias[l]});
  }
  return layers;
}

double KernelScore::flops() const {
  return 2.0 * static_cast<double>(heads_ * hidden * (coordinates_ + 1));
}

std::shared_ptr<Score> make_score(const Options& options, int64_t blocks, int64_t coordinates) {
  if (options.variant == Variant::C) {
    return std::make_shared<KernelScore>(options.blocks, options.heads, coordinates);
  }
  return std::make_shared<NormScore>(options.blocks, options.heads, blocks);
}

}  // namespace weyl::lie
