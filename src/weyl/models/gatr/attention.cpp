#include "weyl/models/gatr/attention.h"

#include <ATen/ops/cat.h>

#include "weyl/models/gatr/dropout.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/hierarchical_attention.h"

namespace weyl::gatr {
namespace {

Tensor beside(const Tensor& x, const Tensor& more, int64_t dimension) {
  return more.defined() ? at::cat({x, more}, dimension) : x;
}

/// The i-th of `parts` equal parts of all channels.
Streams part(const Streams& x, int64_t i, int64_t parts) {
  const int64_t width = x.multivectors.size(2) / parts, scalars = x.scalars.size(1) / parts;
  return {x.multivectors.narrow(2, i * width, width), x.scalars.narrow(1, i * scalars, scalars)};
}

}  // namespace

SelfAttention::SelfAttention(const Options& options) : options_(options), head_(head_channels(options)) {
  const int64_t width = options.width, scalars = options.scalars;
  const auto again_width = static_cast<int64_t>(options.reinsert_multivectors.size()),
             again_scalars = static_cast<int64_t>(options.reinsert_scalars.size());
  const auto map = [&](const char* name, int64_t heads, bool again) {
    return child(name, std::make_shared<EquiLinear>(
                           EquiChannels{width + (again ? again_width : 0), heads * head_.multivectors,
                                        scalars + (again ? again_scalars : 0), heads * head_.scalars}));
  };
  if (options.multi_query) {
    q_ = map("qkv_module.q_linear", options.heads, true);
    k_ = map("qkv_module.k_linear", 1, true);
    v_ = map("qkv_module.v_linear", 1, false);
  } else {
    qkv_ = map("qkv_module.in_linear", 3 * options.heads, true);
  }
  out_ =
      child("out_linear", std::make_shared<EquiLinear>(EquiChannels{options.heads * head_.multivectors, width,
                                                                    options.heads * head_.scalars, scalars},
                                                       EquiInit::small));
  log_weights_ = parameter("attention.log_weights", {options.heads, 1, head_.multivectors}, Init::zeros());
}

SelfAttention::Heads SelfAttention::heads_of(const Streams& x, const Scene& scene, bool across) const {
  const Streams asking{beside(x.multivectors, scene.again.multivectors, 2),
                       beside(x.scalars, scene.again.scalars, 1)};
  Heads heads;
  if (q_) {
    heads = {(*q_)(asking), (*k_)(asking), (*v_)(x)};
  } else {
    const Streams all = (*qkv_)(asking);
    heads = {part(all, 0, 3), part(all, 1, 3), part(all, 2, 3)};
  }
  if (scene.has_angles()) {
    const OrderAngles& angles = across ? scene.angles_across : scene.angles;
    heads.q.scalars = rotated(heads.q.scalars, options_.heads, angles);
    heads.k.scalars = rotated(heads.k.scalars, stored_heads(), angles);
  }
  return heads;
}

Tensor SelfAttention::attended(const Heads& heads, const Scene& scene, bool across) const {
  const Tensor q = multivector_queries(heads.q, log_weights_, options_.heads, options_.epsilon),
               k = multivector_keys(heads.k, stored_heads(), options_.epsilon),
               v = multivector_values(heads.v, stored_heads());
  const double scale = multivector_attention_scale(head_.multivectors, head_.scalars);
  if (options_.attention == AttentionScope::hierarchical) {
    return hierarchical_attention(q, k, v, scene.graphs, scene.objects, scale);
  }
  if (!across) {
    return ragged_attention(q, k, v, options_.axial ? scene.objects : scene.graphs, scale);
  }
  const auto regrouped = [&](const Tensor& x) { return x.index_select(0, scene.across.order); };
  return ragged_attention(regrouped(q), regrouped(k), regrouped(v), scene.across.groups, scale)
      .index_select(0, scene.across.back);
}

Streams SelfAttention::operator()(const Streams& x, const Scene& scene, bool across) const {
  const Tensor y = attended(heads_of(x, scene, across), scene, across);
  const Streams mixed = (*out_)(of_multivector_heads(y, head_.multivectors));
  return drop_grades(mixed, training() ? options_.dropout : 0);
}

double SelfAttention::flops(double graph_nodes, double object_nodes, bool across) const {
  double linear = out_->flops();
  for (const auto& map : {q_, k_, v_, qkv_}) {
    linear += map ? map->flops() : 0;
  }
  const double objects = object_nodes > 0 ? graph_nodes / object_nodes : 0;  // of a graph
  const double seen = options_.axial                                       ? (across ? objects : object_nodes)
                      : options_.attention == AttentionScope::hierarchical ? (graph_nodes + object_nodes) / 2
                                                                           : graph_nodes;
  const auto width = static_cast<double>((12 + 16) * head_.multivectors + 2 * head_.scalars);
  return linear + 2 * static_cast<double>(options_.heads) * width * seen;
}

double SelfAttention::nominal_flops() const {
  double linear = out_->nominal_flops();
  for (const auto& map : {q_, k_, v_, qkv_}) {
    linear += map ? map->nominal_flops() : 0;
  }
  return linear;
}

}  // namespace weyl::gatr
