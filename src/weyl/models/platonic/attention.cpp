#include "weyl/models/platonic/attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/stack.h>

#include <cmath>

#include "weyl/core/check.h"
#include "weyl/models/features.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/linear_attention.h"
#include "weyl/ops/attention/local_attention.h"
#include "weyl/ops/attention/rotary_attention.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/frames/frames.h"
#include "weyl/ops/frames/group_fourier.h"
#include "weyl/ops/frames/group_linear.h"

namespace weyl::platonic {

FrameAttention::FrameAttention(const Options& options, GroupTablesPtr tables)
    : options_(options),
      tables_(std::move(tables)),
      order_(tables_->group().order()),
      head_width_(options.width / options.heads) {
  require<ConfigError>(options.heads % order_ == 0 && options.width % options.heads == 0,
                       "model.platonic.heads: must be a multiple of the order ", order_, " of ",
                       tables_->group().name(), " and divide the width ", options.width, ", got ",
                       options.heads);
  require<ConfigError>(!options.rope || head_width_ % 2 == 0,
                       "model.platonic.heads: rotary encoding needs an even width per head, got ",
                       options.width, " / ", options.heads, " = ", head_width_);
  require<ConfigError>(options.rope || !options.rope_on_values, "model.platonic.rope_on_values: needs rope");
  require<ConfigError>(options.scores == Scores::equivariant || options.attention == AttentionLaw::softmax,
                       "model.platonic.scores: invariant scores are defined for softmax attention alone");
  require<ConfigError>(
      options.nearest == 0 || (options.attention == AttentionLaw::softmax && options.attention_dropout == 0),
      "model.platonic.nearest: must be 0 with ",
      options.attention == AttentionLaw::linear ? "attention = \"linear\"" : "attention_dropout", ", got ",
      options.nearest);
  const auto projection = [&](const char* name) {
    return child(name, std::make_shared<GroupLinear>(tables_, options.width, options.width, options.linear));
  };
  q_ = projection("q_proj");
  v_ = projection("v_proj");
  if (options.use_key || !options.rope) {
    k_ = projection("k_proj");
  }
  if (options.rope) {
    rope_ = child("rope_emb", std::make_shared<FrameRope>(*options.rope, options.heads / order_,
                                                          head_width_ / 2, tables_->group().dimension()));
  }
  out_ = projection("out_proj");
  if (options.qk_norm) {
    q_norm_ = child("q_norm", std::make_shared<RmsNorm>(head_width_));
    if (k_) {
      k_norm_ = child("k_norm", std::make_shared<RmsNorm>(head_width_));
    }
  }
}

Tensor FrameAttention::norm_of(const Tensor& q, const FrameInput& input) const {
  return options_.linear_norm == LinearNorm::mean
             ? counts_of(input.graphs, q)
             : at::full({input.graphs.count()}, input.typical_nodes, q.options());
}

Tensor FrameAttention::mix(const Tensor& q, const Tensor& k, const Tensor& v, const FrameInput& input) const {
  if (options_.attention == AttentionLaw::linear) {
    return linear_attention(q, k, v, input.graphs, norm_of(q, input));
  }
  const double scale = 1 / std::sqrt(static_cast<double>(head_width_));
  const Segments& graphs = input.graphs;
  const auto all_or_near = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return input.nearest ? local_attention(q, k, v, *input.nearest, scale)
                         : ragged_attention(q, k, v, graphs, scale);
  };
  if (options_.scores == Scores::equivariant) {
    return drops_weights() ? ragged_attention_with_dropout(q, k, v, graphs, scale, options_.attention_dropout)
                           : all_or_near(q, k, v);
  }
  // One pattern for all frames: a head's row is of parts, one a frame, that stay where they are. Dropout, a torch
  // expression, and attention to the nearest want them side by side.
  const int64_t n = q.size(0), heads = options_.heads / order_;
  const auto in_frames = [&](const Tensor& t) { return t.view({n, order_, heads, head_width_}); };
  if (!drops_weights() && !input.nearest) {
    return ragged_attention(in_frames(q), in_frames(k), in_frames(v), graphs, scale).reshape(v.sizes());
  }
  const auto merged = [&](const Tensor& t) { return in_frames(t).transpose(1, 2).flatten(2); };
  const Tensor y = input.nearest ? local_attention(merged(q), merged(k), merged(v), *input.nearest, scale)
                                 : ragged_attention_with_dropout(merged(q), merged(k), merged(v), graphs,
                                                                 scale, options_.attention_dropout);
  return y.view({n, heads, order_, head_width_}).transpose(1, 2).reshape(v.sizes());
}

Tensor FrameAttention::operator()(const Tensor& x, const FrameInput& input) const {
  return (*out_)(mixed(q_->function_of(x), input));
}

std::vector<Tensor> FrameAttention::products(const std::vector<Tensor>& x, const FrameInput& input) const {
  return out_->products(out_->function_of(has_fused() ? mixed_by_one_op(x, input) : mixed(x, input)));
}

Tensor FrameAttention::mixed(const std::vector<Tensor>& x, const FrameInput& input) const {
  const std::vector<Tensor> projected = projections(x);
  const int64_t n = projected[0].size(0);
  const auto in_heads = [&](const Tensor& t) {
    return t.defined() ? t.view({n, options_.heads, head_width_}) : t;
  };
  Tensor q = in_heads(projected[0]), v = in_heads(projected[1]), k = in_heads(projected[2]);
  if (q_norm_) {
    q = (*q_norm_)(q);
  }
  if (k_norm_) {
    k = (*k_norm_)(k);
  }
  if (options_.values == FrameValues::invariant) {
    v = v.view({n, order_, -1}).mean(1, /*keepdim=*/true).expand({n, order_, -1}).reshape(v.sizes());
  }
  if (!rope_) {
    return mix(q, k, v, input).reshape({n, options_.width});
  }
  const RotaryTable table = rotary_table(rope_->angles(input.positions, *tables_));
  q = rotate_pairs(q, table);
  k = rotate_pairs(k, table).to(q.scalar_type());
  if (options_.rope_on_values) {
    v = rotate_pairs(v, table);
  }
  Tensor y = mix(q, k, v, input);
  if (options_.rope_on_values) {
    y = rotate_pairs(y, table, /*inverse=*/true);
  }
  return y.reshape({n, options_.width});
}

std::vector<Tensor> FrameAttention::projections(const std::vector<Tensor>& x) const {
  std::vector<Tensor> results;
  if (!q_->by_irreps()) {
    for (const auto& map : {q_, v_, k_}) {
      results.push_back(map ? (*map)(x.front()) : Tensor());
    }
    return results;
  }
  const Tensor together = joint(x);
  int64_t first = 0;
  for (const auto& map : {q_, v_, k_}) {
    results.push_back(
        map ? add_to_frames(together.narrow(1, first, options_.width), map->bias().to(together.scalar_type()))
            : Tensor());
    first += options_.width;
  }
  return results;
}

Tensor FrameAttention::joint(const std::vector<Tensor>& x) const {
  std::vector<Tensor> kernels{q_->kernel(), v_->kernel()};
  if (k_) {
    kernels.push_back(k_->kernel());
  }
  const bool by_irreps = q_->by_irreps();
  const std::vector<Tensor> matrices = joint_.get(training(), kernels, [&] {
    return by_irreps ? spectral_blocks(at::cat(kernels, 1), *tables_)
                     : std::vector<Tensor>{expand_group_kernels(kernels, *tables_)};
  });
  return by_irreps ? rows_of_products(spectral_products(x, matrices), *tables_,
                                      static_cast<int64_t>(kernels.size()))
                   : at::linear(x.front(), matrices.front());
}

bool FrameAttention::has_fused() const {
  return options_.scores == Scores::equivariant && options_.values == FrameValues::equivariant &&
         !options_.qk_norm && options_.nearest == 0 && !drops_weights();
}

Tensor FrameAttention::mixed_by_one_op(const std::vector<Tensor>& x, const FrameInput& input) const {
  std::vector<Tensor> biases{q_->bias(), v_->bias()};
  if (k_) {
    biases.push_back(k_->bias());
  }
  const Tensor angles = rope_ ? rope_->angles(input.positions, *tables_) : Tensor();
  const double scale = 1 / std::sqrt(static_cast<double>(head_width_));
  const Tensor maps = widened(joint(x)), bias = at::stack(biases);
  if (options_.attention == AttentionLaw::linear) {
    return rotary_linear_attention(maps, bias, angles, input.graphs, options_.heads, norm_of(maps, input),
                                   options_.rope_on_values);
  }
  return rotary_attention(maps, bias, angles, input.graphs, options_.heads, scale, options_.rope_on_values);
}

Work FrameAttention::work(double graph_nodes, LinearForm form) const {
  const double width = static_cast<double>(options_.width);
  const bool linear = options_.attention == AttentionLaw::linear;
  const double terms =
      width * (linear ? static_cast<double>(head_width_) : nodes_seen(graph_nodes, options_.nearest));
  const bool keys_learn = k_ || options_.rope->learned;  // else constants turned by constants
  Work work = Work::product(terms, keys_learn ? 2 : 1) + Work::product(terms);
  for (const auto& map : {q_, v_, k_, out_}) {
    work += map ? map->work(form, 2, /*transforms_input=*/map == q_ || map == out_) : Work();
  }
  return work;
}

}  // namespace weyl::platonic
