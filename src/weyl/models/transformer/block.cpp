#include "weyl/models/transformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/autocast_mode.h>
#include <ATen/ops/linear.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/nn/drop_path.h"
#include "weyl/nn/dropout.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/hierarchical_attention.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"

namespace weyl::transformer {

SelfAttention::SelfAttention(const Options& options)
    : scope_(options.attention),
      heads_(options.heads),
      head_width_(options.head_width.value_or(options.width / options.heads)) {
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

Tensor SelfAttention::mix(const Tensor& x, const Segments& graphs, const Segments& objects) const {
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
  const Tensor y = scope_ == AttentionScope::hierarchical
                       ? hierarchical_attention(q, k, v, graphs, objects, scale)
                       : ragged_attention(q, k, v, graphs, scale);
  return y.reshape({n, heads_ * head_width_});
}

Tensor SelfAttention::operator()(const Tensor& x, const Segments& graphs, const Segments& objects) const {
  return (*out_)(mix(x, graphs, objects));
}

Tensor SelfAttention::without_bias(const Tensor& x, const Segments& graphs, const Segments& objects) const {
  return out_->without_bias(mix(x, graphs, objects));
}

Work SelfAttention::work(double graph_nodes, double object_nodes) const {
  double weights = static_cast<double>(out_->weight().numel());
  for (const auto& linear : {q_, k_, v_, qkv_}) {
    weights += linear ? static_cast<double>(linear->weight().numel()) : 0;
  }
  const double seen = scope_ == AttentionScope::hierarchical ? (graph_nodes + object_nodes) / 2 : graph_nodes;
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

Tensor Block::composed(const Tensor& x, const Segments& graphs, const Segments& objects) const {
  const Tensor attended = (*attention_)(normalise_layer(x), graphs, objects);
  const Tensor mixed = residual(x, attended, factors(x, graphs));
  const Tensor branch = (*mlp_)(normalise_layer(mixed));
  return residual(mixed, branch, factors(x, graphs));
}

Tensor Block::operator()(const Tensor& input, const Segments& graphs, const Segments& objects) const {
  // On a GPU autocast keeps the stream below float32, which the ops of more than one step do not take.
  if (UseReferences::active() ||
      (at::autocast::is_autocast_enabled(input.device().type()) && !input.is_cpu())) {
    return composed(input, graphs, objects);
  }
  const Tensor x = widened(input);
  const Tensor attended = widened(attention_->without_bias(frame_norm(x, {}), graphs, objects));
  const auto [sum, normed] =
      add_branch_and_norm(x, attended, attention_->output_bias(), {}, factors(x, graphs));
  const Tensor branch = widened(mlp_->without_bias(normed));
  return add_branch(sum, branch, mlp_->output_bias(), factors(x, graphs));
}

Work Block::work(double graph_nodes, double object_nodes) const {
  const double width = static_cast<double>(options_.width);
  return attention_->work(graph_nodes, object_nodes) +
         Work::product(2 * width * width * static_cast<double>(options_.hidden_factor));
}

}  // namespace weyl::transformer
