#include "weyl/models/transformer/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/linear.h>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/models/output_rows.h"
#include "weyl/nn/drop_path.h"
#include "weyl/nn/dropout.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/local_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::transformer {

SelfAttention::SelfAttention(const Options& options)
    : scope_(options.attention),
      nearest_(options.nearest),
      heads_(options.heads),
      head_width_(head_width_of(options)) {
  const int64_t width = options.width, inner = heads_ * head_width_;
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out));
  };
  if (options.multi_query) {
    q_ = linear("qkv_linear.q_linear", width, inner);
    k_ = linear("qkv_linear.k_linear", width, head_width_);
    v_ = linear("qkv_linear.v_linear", width, head_width_);
  } else {
    qkv_ = linear("qkv_linear.linear", width, 3 * inner);
  }
  out_ = linear("out_linear", inner, width);
}

void SelfAttention::mode_changed() {
  weight_.drop();
  bias_.drop();
}

Tensor SelfAttention::heads_first(const Derived& kept, const Tensor& rows) const {
  return kept.get(training(), {rows}, [&] {
    const int64_t parts = rows.size(0) / (heads_ * head_width_);
    return rows.view({parts, head_width_, heads_, -1}).transpose(1, 2).reshape(rows.sizes());
  });
}

Tensor SelfAttention::mix(const Tensor& x, const Nodes& nodes) const {
  const auto& [graphs, objects, angles, nearest] = nodes;
  const int64_t n = x.size(0);
  const double scale = 1 / std::sqrt(static_cast<double>(head_width_));
  const Linear& joint = q_ ? *q_ : *qkv_;
  const Tensor projected =
      at::linear(x, heads_first(weight_, joint.weight()), heads_first(bias_, joint.bias()));
  Tensor q, k, v;
  if (q_) {
    q = projected.view({n, heads_, head_width_});
    k = (*k_)(x).view({n, 1, head_width_});
    v = (*v_)(x).view({n, 1, head_width_});
  } else {
    const auto parts = projected.view({n, 3, heads_, head_width_}).unbind(1);
    q = parts[0];
    k = parts[1];
    v = parts[2];
  }
  if (angles.cosine.defined()) {
    q = turned_by_order(q, 2, angles);
    k = turned_by_order(k, 2, angles);
  }
  if (nearest) {
    return local_attention(q, k, v, *nearest, scale).reshape({n, heads_ * head_width_});
  }
  const Tensor y = scope_ == AttentionScope::hierarchical
                       ? hierarchical_attention(q, k, v, graphs, objects, scale)
                       : ragged_attention(q, k, v, graphs, scale);
  return y.reshape({n, heads_ * head_width_});
}

Tensor SelfAttention::operator()(const Tensor& x, const Nodes& nodes) const {
  return (*out_)(mix(x, nodes));
}

Tensor SelfAttention::without_bias(const Tensor& x, const Nodes& nodes) const {
  return out_->without_bias(mix(x, nodes));
}

Work SelfAttention::work(double graph_nodes, double object_nodes) const {
  double weights = static_cast<double>(out_->weight().numel());
  for (const auto& linear : {q_, k_, v_, qkv_}) {
    weights += linear ? static_cast<double>(linear->weight().numel()) : 0;
  }
  const double seen = scope_ == AttentionScope::hierarchical ? (graph_nodes + object_nodes) / 2
                                                             : nodes_seen(graph_nodes, nearest_);
  return Work::product(weights + 2 * seen * static_cast<double>(heads_ * head_width_));
}

Block::Block(const Options& options)
    : options_(options),
      attention_(child("attention", std::make_shared<SelfAttention>(options))),
      mlp_(child("mlp", std::make_shared<Mlp>(options.width, options.hidden_factor * options.width,
                                              options.width, options.activation))) {}

BranchFactors Block::factors(const Tensor& x, const Segments& graphs) const {
  BranchFactors result;
  if (training()) {
    result.noise = dropout_noise(x.sizes(), options_.dropout, x.options().requires_grad(false));
    result.rows = drop_path_factors(x, graphs, options_.drop_path, DropPathBy::graph);
  }
  return result;
}

Tensor Block::residual(const Tensor& x, const Tensor& branch, const BranchFactors& factors) const {
  const Tensor y = factors.noise.defined() ? branch * factors.noise : branch;
  return x + (factors.rows.defined() ? y * factors.rows.unsqueeze(1) : y);
}

Tensor Block::composed(const Tensor& x, const Nodes& nodes) const {
  const Tensor attended = (*attention_)(normalise_layer(x), nodes);
  const Tensor mixed = residual(x, attended, factors(x, nodes.graphs));
  const Tensor branch = (*mlp_)(normalise_layer(mixed));
  return residual(mixed, branch, factors(x, nodes.graphs));
}

Tensor Block::operator()(const Tensor& input, const Nodes& nodes) const {
  // On a GPU autocast keeps the stream below float32, which the ops of more than one step do not take.
  if (UseReferences::active() ||
      (at::autocast::is_autocast_enabled(input.device().type()) && !input.is_cpu())) {
    return composed(input, nodes);
  }
  const Tensor x = widened(input);
  const Tensor attended = widened(attention_->without_bias(frame_norm(x, {}), nodes));
  const auto [sum, normed] =
      add_branch_and_norm(x, attended, attention_->output_bias(), {}, factors(x, nodes.graphs));
  const Tensor branch = widened(mlp_->without_bias(normed));
  return add_branch(sum, branch, mlp_->output_bias(), factors(x, nodes.graphs));
}

Work Block::work(double graph_nodes, double object_nodes) const {
  const double width = static_cast<double>(options_.width);
  return attention_->work(graph_nodes, object_nodes) +
         Work::product(2 * width * width * static_cast<double>(options_.hidden_factor));
}

Transformer::Transformer(const Options& options, const Interface& interface)
    : PointsModel(interface), options(options), columns_(input_columns(interface, "transformer")) {
  check(options);
  const int64_t d = interface.dimension, coordinates = d * (1 + columns_.vector_count());
  if (options.fourier) {
    fourier_ = child("fourier", std::make_shared<FourierFeatures>(coordinates, options.fourier->frequencies,
                                                                  options.fourier->sigma));
  }
  inputs_ = columns_.scalar_count() + (options.fourier ? 2 * options.fourier->frequencies : coordinates);
  for (const auto& q : interface.outputs) {
    require<ConfigError>(
        q.level != Level::pair && (is_vector(q.kind, d) || is_number(q.kind, d)), "transformer: output '",
        q.name, "' (", level_names[static_cast<int>(q.level)], " ", kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars and vectors of nodes, objects and graphs are");
    outputs_ += q.channels * components(q.kind, d);
  }
  in_ = child("linear_in", std::make_shared<Linear>(inputs_, options.width));
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks_.push_back(child("blocks." + std::to_string(i), std::make_shared<Block>(options)));
  }
  out_ = child("linear_out", std::make_shared<Linear>(options.width, outputs_));
}

Named Transformer::forward(const Points& points) {
  const int64_t n = points.nodes(), d = interface.dimension;
  const auto dtype = points.positions.scalar_type();
  const std::string must = must_without_objects(options);
  require(must.empty() || points.objects.rows() == n, must, " for an input without objects");
  const auto [scalars, vectors] = input_values(points, interface);
  Tensor coordinates = options.centre ? centred_positions(points, interface) : points.positions;
  if (vectors.defined()) {
    coordinates = at::cat({coordinates, vectors.reshape({n, vectors.size(1) * d})}, 1);
  }
  if (fourier_) {
    coordinates = (*fourier_)(coordinates);
  }
  // The residual stream keeps the weights' precision under autocast.
  Tensor x = (*in_)(scalars.defined() ? at::cat({scalars, coordinates}, 1) : coordinates).to(dtype);
  Nodes nodes{points.graphs, points.objects, {}, nearest_of(points, options.nearest, "model.transformer")};
  if (options.rotary) {
    nodes.angles = order_angles(numbers_in(points.graphs), head_width_of(options), *options.rotary, dtype);
  }
  for (const auto& block : blocks_) {
    x = (*block)(x, nodes);
  }
  const Tensor all = (*out_)(x).to(dtype);
  Named outputs;
  int64_t column = 0;
  for (const auto& q : interface.outputs) {
    const int64_t numbers = components(q.kind, d);
    Tensor value = all.narrow(1, column, q.channels * numbers);
    column += q.channels * numbers;
    value = output_rows(value, q, points, options.pooling, interface.typical_nodes);
    outputs[q.name] = is_vector(q.kind, d) ? value.reshape({value.size(0), q.channels, d}) : value;
  }
  return outputs;
}

Symmetry Transformer::symmetry() const {
  Symmetry symmetry;
  if (options.centre) {
    symmetry.exact.push_back({Claim::Of::translations, "translations", nullptr});
  }
  if (!options.rotary) {
    symmetry.exact.push_back({Claim::Of::permutations, "permutations", nullptr});
  }
  return symmetry;
}

std::vector<std::string> Transformer::warnings(std::string_view differentiated_by) const {
  return warnings_of_nearest(options.nearest, "model.transformer", differentiated_by);
}

ForeignWeights Transformer::translated(const NamedTensors& state_dict,
                                       const ForeignRecord& /*record*/) const {
  NamedTensors ours = state_dict;  // their frequencies follow from `rotary`
  std::erase_if(ours, [](const auto& entry) { return entry.first.ends_with(".pos_encoding.inv_freq"); });
  return {ours};
}

Work Transformer::work(double nodes) const {
  const auto width = static_cast<double>(options.width);
  Work work = Work::product(width * static_cast<double>(inputs_), 1) +
              Work::product(width * static_cast<double>(outputs_));
  if (options.fourier) {  // fixed frequencies
    work += Work::product(static_cast<double>(options.fourier->frequencies * interface.dimension *
                                              (1 + columns_.vector_count())),
                          0);
  }
  double weights = 2.0 * static_cast<double>(options.width * (inputs_ + outputs_));
  for (const auto& block : blocks_) {
    work += block->work(nodes, object_nodes_);
    weights += block->work(0, 0).forward;
  }
  work.nominal = 3 * weights;
  return work;
}

}  // namespace weyl::transformer
