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

/// squares (P, K) less the least of each token's row, column by column: no softmax over the row notices, and
/// what decides it, differences between near tokens of nearly the same square, is then still there when
/// rounded.
Tensor above_least(const Tensor& squares, const Tensor& present, const Edges& pairs) {
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

void add_pairs(Part& part, const View& view, ChartPolicy chart, at::ScalarType dtype) {
  Pairs pairs =
      view.of_neighbours()
          ? pairs_near(part.elements, part.graphs, view.group, chart, view.radius, view.nearest, view.causal)
          : pairs_between(part.elements, part.graphs, view.group, chart, view.causal);
  if (view.reads == Reads::exact_coordinates) {
    part.exact = pairs.coordinates;
  }
  pairs.coordinates = pairs.coordinates.to(dtype);
  if (view.reads == Reads::squares) {
    pairs.squares = above_least(pairs.squares, pairs.present, pairs.edges(part.graphs)).to(dtype);
  }
  part.pairs = std::move(pairs);
}

}  // namespace

Tensor in_order(const Relations& relations, const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : at::cat(parts).index_select(0, relations.places);
}

Relations relate(const View& view, const Tensor& elements, const Segments& graphs, at::ScalarType dtype) {
  Relations relations{view, {}, {}};
  const auto is_short = [&](int64_t size) {
    return view.reads != Reads::squares || view.of_neighbours() || size <= long_graph;
  };
  Part of_short = part_of(elements, graphs, is_short);
  if (!of_short.rows.defined()) {
    add_pairs(of_short, view, view.chart, dtype);
    relations.parts.push_back(std::move(of_short));
    return relations;
  }
  Part of_long = part_of(elements, graphs, [&](int64_t size) { return !is_short(size); });
  if (!of_long.rows.defined()) {
    relations.parts.push_back(std::move(of_long));
    return relations;
  }
  // A pair outside the chart is named by its graph in the batch, so not by pairs_between.
  const bool strict = view.chart == ChartPolicy::error;
  add_pairs(of_short, view, strict ? ChartPolicy::mask : view.chart, dtype);
  if (strict) {
    const Tensor outside = at::zeros({graphs.rows()}, of_short.pairs->outside.options());
    require_inside("lie_pairs", outside.index_copy(0, of_short.rows, of_short.pairs->outside), graphs,
                   view.group);
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

namespace {

Tensor symmetric_scores(const LayerScore& layer, const Part& part) {
  const auto& [ratios, factor, first, first_bias, second, second_bias, linear] = layer;
  const Pairs& pairs = *part.pairs;
  if (ratios.defined()) {
    return at::matmul(-ratios, pairs.squares.t()).t();  // head by head, as the attention reads them
  }
  if (factor.defined()) {
    const Tensor turned = at::matmul(part.exact, factor.to(at::kDouble));  // (H, P, E): rows w^T L
    return -above_least(turned.square().sum(2).t(), pairs.present, pairs.edges(part.graphs));
  }
  return pair_network(pairs.coordinates, pairs.present, first, first_bias, second, second_bias,
                      ScoreActivation::relu);
}

}  // namespace

Tensor LayerScore::operator()(const Part& part) const {
  const Tensor scores = symmetric_scores(*this, part);
  return linear.defined()
             ? scores + linear_scores(part.pairs->coordinates, linear, part.pairs->edges(part.graphs))
             : scores;
}

Attention LayerScore::attend(const Relations& relations, const Tensor& values, const Segments& graphs) const {
  const View& view = relations.view;
  std::vector<Tensor> mixed, coordinates, outside;
  for (const Part& part : relations.parts) {
    const bool mixed_batch = relations.parts.size() > 1;
    const Tensor of_part = mixed_batch ? values.index_select(0, part.rows) : values;
    const Attention y = [&] {
      if (part.pairs) {
        return attention_scored((*this)(part).to(values.scalar_type()), *part.pairs, of_part, part.graphs);
      }
      // A pair outside the chart is named by its graph in the batch: below.
      const ChartPolicy chart =
          mixed_batch && view.chart == ChartPolicy::error ? ChartPolicy::mask : view.chart;
      return attention(part.elements, of_part, ratios, part.graphs, view.group, chart, {linear, view.causal});
    }();
    mixed.push_back(y.mixed);
    coordinates.push_back(y.coordinates);
    outside.push_back(y.outside);
  }
  const Attention all{in_order(relations, mixed), in_order(relations, coordinates),
                      in_order(relations, outside)};
  if (view.chart == ChartPolicy::error && relations.parts.size() > 1) {
    require_inside("lie_attention", all.outside, graphs, view.group);
  }
  return all;
}

Score::Score(const Options& options, int64_t coordinates)
    : layers_(options.blocks), heads_(options.heads), coordinates_(coordinates) {
  if (options.directed) {
    directed_ = parameter("directed", {layers_, heads_, coordinates_}, Init::zeros());
  }
  if (options.order == Order::bias) {
    order_ = parameter("order", {layers_, heads_, 2}, Init::zeros());
  }
}

std::vector<LayerScore> Score::layers() const {
  std::vector<LayerScore> layers = symmetric_layers();
  if (directed_.defined() || order_.defined()) {
    const Tensor& known = directed_.defined() ? directed_ : order_;
    const Tensor of_w =
        directed_.defined() ? directed_ : at::zeros({layers_, heads_, coordinates_}, known.options());
    const Tensor of_order = order_.defined() ? order_ : at::zeros({layers_, heads_, 2}, known.options());
    const std::vector<Tensor> linear = at::cat({of_w, of_order}, 2).unbind(0);
    for (size_t l = 0; l < layers.size(); ++l) {
      layers[l].linear = linear[l];
    }
  }
  return layers;
}

Work Score::linear_work(bool moved) const {
  const double numbers =
      static_cast<double>((directed_.defined() ? coordinates_ : 0) + (order_.defined() ? 2 : 0));
  return Work::product(static_cast<double>(heads_) * numbers, moved ? 2 : 1);
}

NormScore::NormScore(const Options& options, LieGroup group)
    : Score(options, degrees_of_freedom(group)),
      blocks_(static_cast<int64_t>(blocks_of(group).size())),
      weight_(parameter("weight", {layers_, heads_, options.metric == Metric::isotropic ? 1 : blocks_},
                        Init::zeros())),
      temperature_(parameter("temperature", {layers_, heads_}, Init::zeros())) {}

std::vector<LayerScore> NormScore::symmetric_layers() const {
  const Tensor given = positive(weight_) / positive(temperature_).unsqueeze(2);
  const Tensor ratios = given.expand({layers_, heads_, blocks_});
  std::vector<LayerScore> layers;
  for (const Tensor& layer : ratios.unbind(0)) {
    layers.push_back({.ratios = layer});
  }
  return layers;
}

MetricScore::MetricScore(const Options& options, LieGroup group)
    : Score(options, degrees_of_freedom(group)),
      factor_(parameter("factor", {layers_, heads_, coordinates_ * (coordinates_ + 1) / 2}, Init::zeros())) {}

std::vector<LayerScore> MetricScore::symmetric_layers() const {
  std::vector<int64_t> places;  // in the rows of L, of all its columns
  std::vector<int64_t> on_diagonal;
  for (int64_t r = 0; r < coordinates_; ++r) {
    for (int64_t c = 0; c <= r; ++c) {
      on_diagonal.push_back(r == c);
      places.push_back(r * coordinates_ + c);
    }
  }
  const auto there = [&](const std::vector<int64_t>& x) {
    return at::tensor(x, at::kLong).to(factor_.device());
  };
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

Work MetricScore::own_work(bool moved) const {
  const auto E = static_cast<double>(coordinates_);
  return Work::product(static_cast<double>(heads_) * E * (E + 1), moved ? 2 : 1);
}

KernelScore::KernelScore(const Options& options, LieGroup group) : Score(options, degrees_of_freedom(group)) {
  // Initialised as torch initialises linear layers.
  const double first = 1 / std::sqrt(static_cast<double>(coordinates_)),
               second = 1 / std::sqrt(static_cast<double>(hidden));
  first_weight_ = parameter("first.weight", {layers_, heads_ * hidden, coordinates_}, Init::uniform(first));
  first_bias_ = parameter("first.bias", {layers_, heads_ * hidden}, Init::uniform(first));
  second_weight_ = parameter("second.weight", {layers_, heads_, hidden}, Init::uniform(second));
  second_bias_ = parameter("second.bias", {layers_, heads_}, Init::uniform(second));
}

std::vector<LayerScore> KernelScore::symmetric_layers() const {
  const auto first = first_weight_.unbind(0), first_bias = first_bias_.unbind(0),
             second = second_weight_.unbind(0), second_bias = second_bias_.unbind(0);
  std::vector<LayerScore> layers;
  for (size_t l = 0; l < first.size(); ++l) {
    layers.push_back(
        {.first = first[l], .first_bias = first_bias[l], .second = second[l], .second_bias = second_bias[l]});
  }
  return layers;
}

Work KernelScore::own_work(bool moved) const {
  const auto units = static_cast<double>(heads_ * hidden);
  return Work::product(units * static_cast<double>(coordinates_), moved ? 2 : 1) + Work::product(units);
}

std::shared_ptr<Score> make_score(const Options& options, LieGroup group) {
  if (options.variant == Variant::C) {
    return std::make_shared<KernelScore>(options, group);
  }
  if (options.metric == Metric::full) {
    return std::make_shared<MetricScore>(options, group);
  }
  return std::make_shared<NormScore>(options, group);
}

}  // namespace weyl::lie
