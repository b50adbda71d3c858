#include "weyl/models/gatr/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <algorithm>
#include <vector>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/models/features.h"
#include "weyl/models/gatr/layers.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/attention/local_attention.h"
#include "weyl/ops/constants.h"
#include "weyl/ops/segment.h"

namespace weyl::gatr {

namespace {

Tensor indices(const std::vector<int64_t>& values, at::Device device) {
  return to_device(at::tensor(values, at::kLong), device);
}

/// The first object of each graph, and the end of the last: (B + 1). Objects nest in graphs and are never empty.
std::vector<int64_t> first_objects(const Points& points) {
  std::vector<int64_t> first;
  int64_t object = 0;
  for (const int64_t node : points.graphs.offsets) {
    while (points.objects.offsets[object] < node) {
      ++object;
    }
    first.push_back(object);
  }
  return first;
}

Tensor mean_reference(const Tensor& multivectors, const Segments& graphs) {
  const Tensor of_nodes = multivectors.select(0, clifford::e123).mean(1);
  return spread(segment_mean(of_nodes, graphs), graphs);
}

Tensor chosen(const Tensor& x, int64_t dimension, const std::vector<int64_t>& channels) {
  return channels.empty() ? Tensor() : x.index_select(dimension, constant(channels, x.device()));
}

}  // namespace

Regrouped across_objects(const Points& points) {
  const std::vector<int64_t> first = first_objects(points);
  const Segments& objects = points.objects;
  std::vector<int64_t> order, sizes;
  for (size_t g = 0; g + 1 < first.size(); ++g) {
    int64_t longest = 0;
    for (int64_t o = first[g]; o < first[g + 1]; ++o) {
      longest = std::max(longest, objects.size(o));
    }
    for (int64_t n = 0; n < longest; ++n) {
      const auto before = static_cast<int64_t>(order.size());
      for (int64_t o = first[g]; o < first[g + 1]; ++o) {
        if (n < objects.size(o)) {
          order.push_back(objects.offsets[o] + n);
        }
      }
      sizes.push_back(static_cast<int64_t>(order.size()) - before);
    }
  }
  std::vector<int64_t> back(order.size());
  for (size_t row = 0; row < order.size(); ++row) {
    back[order[row]] = static_cast<int64_t>(row);
  }
  const at::Device device = points.positions.device();
  return {indices(order, device), indices(back, device), Segments::of_sizes(sizes, device)};
}

Scene scene_of(const Points& points, const Streams& input, const Options& options) {
  const std::string must = must_without_objects(options);
  require(must.empty() || points.objects.rows() == points.nodes(), must, " for an input without objects");
  Scene scene{
      points.graphs, points.objects, {}, {}, {}, {}, {}, nearest_of(points, options.nearest, "model.gatr")};
  const Tensor& mv = input.multivectors;
  if (options.reference == Reference::canonical) {
    scene.reference = at::ones({points.nodes()}, mv.options().requires_grad(false));
  } else if (options.reference == Reference::data) {
    scene.reference = mean_reference(mv, points.graphs);
  }
  scene.again = {chosen(mv, 2, options.reinsert_multivectors),
                 chosen(input.scalars, 1, options.reinsert_scalars)};
  if (options.axial) {
    scene.across = across_objects(points);
  }
  if (options.rotary) {
    const auto angles = [&](const Tensor& number) {
      return order_angles(number, head_channels(options).scalars, *options.rotary, mv.scalar_type());
    };
    scene.angles = angles(numbers_in(options.axial ? points.objects : points.graphs));
    if (options.axial) {
      const Tensor first = indices(first_objects(points), points.positions.device());
      scene.angles_across = angles(points.objects.index - first.index_select(0, points.graphs.index));
    }
  }
  return scene;
}

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
  if (options_.rotary) {
    const OrderAngles& angles = across ? scene.angles_across : scene.angles;
    const auto turn = [&](Tensor& x, int64_t stored) {  // channel s of head h at s H + h
      x = turned_by_order(x.unflatten(1, {head_.scalars, stored}), 1, angles).flatten(1);
    };
    turn(heads.q.scalars, options_.heads);
    turn(heads.k.scalars, stored_heads());
  }
  return heads;
}

Tensor SelfAttention::attended(const Heads& heads, const Scene& scene, bool across) const {
  const Tensor q = multivector_queries(heads.q, log_weights_, options_.heads, options_.epsilon),
               k = multivector_keys(heads.k, stored_heads(), options_.epsilon),
               v = multivector_values(heads.v, stored_heads());
  const double scale = multivector_attention_scale(head_.multivectors, head_.scalars);
  if (scene.nearest) {
    return local_attention(q, k, v, *scene.nearest, scale);
  }
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
  const double seen = options_.axial ? (across ? objects : object_nodes)
                      : options_.attention == AttentionScope::hierarchical
                          ? (graph_nodes + object_nodes) / 2
                          : nodes_seen(graph_nodes, options_.nearest);
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
