#include "weyl/models/lie/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/square.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/unbind.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <cmath>
#include <limits>
#include <utility>

#include "weyl/ops/edges/edges.h"

namespace weyl::lie {
namespace {

constexpr int64_t long_graph = 128;  // from here on numbers of pairs cost more than making them in each layer

/// squares (P, K) less the least of each token's row, column by column: no softmax over the row notices, and
/// what decides it, differences between near tokens of nearly the same square, is then still there when
/// rounded.
Tensor above_least(const Tensor& squares, const Tensor& present, const Segments& graphs) {
  const Edges pairs = all_pairs(graphs);
  const Tensor lengths = pairs.of_centre.sizes_on_device();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor seen = squares.detach().t().masked_fill(at::logical_not(present), infinity).t();
  Tensor least = at::segment_reduce(seen, "min", lengths, {}, {}, 0, /*unsafe=*/true, infinity);
  least = least.masked_fill(least == infinity, 0);
  return squares - least.index_select(0, pairs.centre);
}

/// The graphs for which `take` holds: their sizes, and the rows of their tokens (undefined when all are taken).
template <class F>
Part part_of(const Tensor& elements, const Segments& graphs, const F& take) {
  std::vector<int64_t> sizes;
  std::vector<Tensor> rows;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    if (take(graphs.size(s))) {
      sizes.push_back(graphs.size(s));
      rows.push_back(at::arange(graphs.offsets[s], graphs.offsets[s + 1], at::kLong));
    }
  }
  const at::Device device = elements.device();
  if (static_cast<int64_t>(sizes.size()) == graphs.count()) {
    return {graphs, {}, elements, {}};
  }
  const Tensor taken =
      rows.empty() ? at::zeros({0}, elements.options().dtype(at::kLong)) : at::cat(rows).to(device);
  return {Segments::of_sizes(sizes, device), taken, elements.index_select(0, taken), {}};
}

void add_pairs(Part& part, LieGroup group, ChartPolicy chart, Reads reads, at::ScalarType dtype) {
  Pairs pairs = pairs_between(part.elements, part.graphs, group, chart);
  if (reads == Reads::exact_coordinates) {
    part.exact = pairs.coordinates;
  }
  pairs.coordinates = pairs.coordinates.to(dtype);
  if (reads == Reads::squares) {
    pairs.squares = above_least(pairs.squares, pairs.present, part.graphs).to(dtype);
  }
  part.pairs = std::move(pairs);
}

}  // namespace

Tensor in_order(const Relations& relations, const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : at::cat(parts).index_select(0, relations.places);
}

Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 Reads reads, at::ScalarType dtype) {
  Relations relations{group, chart, {}, {}};
  const auto is_short = [&](int64_t size) { return reads != Reads::squares || size <= long_graph; };
  Part of_short = part_of(elements, graphs, is_short);
  if (!of_short.rows.defined()) {
    add_pairs(of_short, group, chart, reads, dtype);
    relations.parts.push_back(std::move(of_short));
    return relations;
  }
  Part of_long = part_of(elements, graphs, [&](int64_t size) { return !is_short(size); });
  if (!of_long.rows.defined()) {
    relations.parts.push_back(std::move(of_long));
    return relations;
  }
  // A pair outside the chart is named by its graph in the batch, so not by pairs_between.
  add_pairs(of_short, group, chart == ChartPolicy::error ? ChartPolicy::mask : chart, reads, dtype);
  if (chart == ChartPolicy::error) {
    const Tensor outside = at::zeros({graphs.rows()}, of_short.pairs->outside.options());
    require_inside("lie_pairs", outside.index_copy(0, of_short.rows, of_short.pairs->outside), graphs, group);
  }
  relations.places = at::argsort(at::cat({of_short.rows, of_long.rows}));
  relations.parts.push_back(std::move(of_short));
  relations.parts.push_back(std::move(of_long));
  return relations;
}

namespace {

constexpr int64_t hidden = 32;   // of the network of C
constexpr double floor_ = 1e-3;  // of lambda and tau

Tensor positive(const Tensor& raw) {
  return at::softplus(raw) + floor_;
}

}  // namespace

Tensor LayerScore::operator()(const Part& part) const {
  const Pairs& pairs = *part.pairs;
  if (ratios.defined()) {
    return at::matmul(-ratios, pairs.squares.t()).t();  // head by head, as the attention reads them
  }
  if (factor.defined()) {
    const Tensor turned = at::matmul(part.exact, factor.to(at::kDouble));  // (H, P, E): rows w^T L
    return -above_least(turned.square().sum(2).t(), pairs.present, part.graphs);
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
        return attention_scored((*this)(part).to(values.scalar_type()), *part.pairs, of_part,
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

NormScore::NormScore(int64_t layers, int64_t heads, int64_t blocks, bool isotropic)
    : heads_(heads),
      blocks_(blocks),
      weight_(parameter("weight", {layers, heads, isotropic ? 1 : blocks}, Init::zeros())),
      temperature_(parameter("temperature", {layers, heads}, Init::zeros())) {}

std::vector<LayerScore> NormScore::layers() const {
  const Tensor given = positive(weight_) / positive(temperature_).unsqueeze(2);
  const Tensor ratios = given.expand({given.size(0), heads_, blocks_});
  std::vector<LayerScore> layers;
  for (const Tensor& layer : ratios.unbind(0)) {
    layers.push_back({.ratios = layer});
  }
  return layers;
}

MetricScore::MetricScore(int64_t layers, int64_t heads, int64_t coordinates)
    : layers_(layers),
      heads_(heads),
      coordinates_(coordinates),
      factor_(parameter("factor", {layers, heads, coordinates * (coordinates + 1) / 2}, Init::zeros())) {}

std::vector<LayerScore> MetricScore::layers() const {
  std::vector<int64_t> places;  // in the rows of L, of all its columns
  std::vector<int64_t> on_diagonal;
  for (int64_t r = 0; r < coordinates_; ++r) {
    for (int64_t c = 0; c <= r; ++c) {
      on_diagonal.push_back(r == c);
      places.push_back(r * coordinates_ + c);
    }
  }
  const auto there = [&](const std::vector<int64_t>& x) { return at::tensor(x, at::kLong).to(factor_.device()); };
  const Tensor numbers = at::where(there(on_diagonal) == 1, factor_.exp(), factor_);
  const Tensor full = at::zeros({layers_, heads_, coordinates_ * coordinates_}, factor_.options())
                          .index_copy(2, there(places), numbers)
                          .view({layers_, heads_, coordinates_, coordinates_});
  std::vector<LayerScore> layers;
  for (const Tensor& layer : full.unbind(0)) {
    layers.push_back({.factor = layer});
  }
  return layers;
}

Work MetricScore::work(bool moved) const {
  const auto E = static_cast<double>(coordinates_);
  return Work::product(static_cast<double>(heads_) * E * (E + 1), moved ? 2 : 1);
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
    layers.push_back({.first = first[l],
                      .first_bias = first_bias[l],
                      .second = second[l],
                      .second_bias = second_bias[l]});
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
  if (options.metric == Metric::full) {
    return std::make_shared<MetricScore>(options.blocks, options.heads, coordinates);
  }
  return std::make_shared<NormScore>(options.blocks, options.heads, blocks,
                                     options.metric == Metric::isotropic);
}

}  // namespace weyl::lie
