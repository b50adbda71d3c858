#include "weyl/models/lie/score.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/unbind.h>

#include <cmath>

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
  return pair_network(pairs.coordinates, pairs.present, first, first_bias, second, second_bias,
                      ScoreActivation::relu);
}

Attention LayerScore::attend(const Relations& relations, const Tensor& values, const Segments& graphs) const {
  std::vector<Tensor> mixed, coordinates, outside;
  for (const Part& part : relations.parts) {
    const bool mixed_batch = relations.parts.size() > 1;
    const Tensor of_part = mixed_batch ? values.index_select(0, part.rows) : values;
    const Attention y = [&] {
      if (part.pairs) {
        return attention_scored((*this)(*part.pairs).to(values.scalar_type()), *part.pairs, of_part,
                                part.graphs);
      }
      // A pair outside the chart is named by its graph in the batch: below.
      const ChartPolicy chart =
          mixed_batch && relations.chart == ChartPolicy::error ? ChartPolicy::mask : relations.chart;
      return attention(part.elements, of_part, ratios, part.graphs, relations.group, chart);
    }();
    mixed.push_back(y.mixed);
    coordinates.push_back(y.coordinates);
    outside.push_back(y.outside);
  }
  const Attention all{in_order(relations, mixed), in_order(relations, coordinates),
                      in_order(relations, outside)};
  if (relations.chart == ChartPolicy::error && relations.parts.size() > 1) {
    require_inside("lie_attention", all.outside, graphs, relations.group);
  }
  return all;
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

Work KernelScore::work(bool moved) const {
  const auto units = static_cast<double>(heads_ * hidden);
  return Work::product(units * static_cast<double>(coordinates_), moved ? 2 : 1) + Work::product(units);
}

std::shared_ptr<Score> make_score(const Options& options, int64_t blocks, int64_t coordinates) {
  if (options.variant == Variant::C) {
    return std::make_shared<KernelScore>(options.blocks, options.heads, coordinates);
  }
  return std::make_shared<NormScore>(options.blocks, options.heads, blocks);
}

}  // namespace weyl::lie
