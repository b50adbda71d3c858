#include "weyl/models/transformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/nn/norms.h"
#include "weyl/ops/attention/attention.h"

namespace weyl::transformer {

SelfAttention::SelfAttention(const Options& options)
    : heads_(options.heads), head_width_(options.head_width.value_or(options.width / options.heads)) {
  require<ConfigError>(options.head_width || options.width % options.heads == 0,
                       "transformer.heads: must divide the width ", options.width,
                       " when head_width is not given, got ", options.heads);
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

Tensor SelfAttention::operator()(const Tensor& x, const Segments& graphs) const {
  const int64_t n = x.size(0);
  const double scale = 1 / std::sqrt(static_cast<double>(head_width_));
  Tensor q, k, v;
  if (q_) {
    q = (*q_)(x).view({n, head_width_, heads_}).transpose(1, 2);
    k = (*k_)(x).view({n, 1, head_width_});
    v = (*v_)(x).view({n, 1, head_width_});
  } else {
    const Tensor all = (*qkv_)(x).view({n, 3, head_width_, heads_}).transpose(2, 3);
    q = all.select(1, 0);
    k = all.select(1, 1);
    v = all.select(1, 2);
  }
  return (*out_)(ragged_attention(q, k, v, graphs, scale).reshape({n, heads_ * head_width_}));
}

Block::Block(const Options& options)
    : options_(options),
      attention_(child("attention", std::make_shared<SelfAttention>(options))),
      mlp_(child("mlp", std::make_shared<Mlp>(options.width, options.hidden_factor * options.width,
                                              options.width, options.activation))) {}

Tensor Block::residual(const Tensor& x, const Tensor& branch, const Segments& graphs) const {
  if (!training()) {
    return x + branch;
  }
  const Tensor y = options_.dropout > 0 ? at::dropout(branch, options_.dropout, /*train=*/true) : branch;
  return x + drop_path(y, graphs, options_.drop_path, options_.drop_path_by);
}

Tensor Block::operator()(const Tensor& x, const Segments& graphs) const {
  const Tensor mixed = residual(x, (*attention_)(normalise_layer(x), graphs), graphs);
  return residual(mixed, (*mlp_)(normalise_layer(mixed)), graphs);
}

double Block::flops(double typical_nodes) const {
  const double width = static_cast<double>(options_.width);
  const double head = static_cast<double>(attention_->head_width()), inner = head * options_.heads;
  const double projections =
      options_.multi_query ? 2 * width * (2 * inner + 2 * head) : 2 * width * 4 * inner;
  return projections + 4 * typical_nodes * inner + 4 * width * width * options_.hidden_factor;
}

}  // namespace weyl::transformer
