#include "weyl/models/geomformer/messages.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>

#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/edge_sums.h"
#include "weyl/ops/frames/bias_activation.h"

namespace weyl::geomformer {
namespace {

/// SiLU of a linear map, its bias added in the same pass.
Tensor activated(const Linear& map, const Tensor& x) {
  return bias_silu(widened(at::linear(x, map.weight())), map.bias());
}

}  // namespace

FilteredMessages::FilteredMessages(const Options& o)
    : width_(o.width),
      heads_(has_heads(o) ? o.heads : 1),
      filter_activation_(messages_of(o.preset).filter_activation),
      vector_cutoff_(o.vector_cutoff || o.normaliser == Normaliser::constant) {
  const auto map = [&](const char* name, int64_t in, int64_t out, bool bias = true) {
    return child(name, std::make_shared<Linear>(in, out, bias, LinearInit::xavier));
  };
  if (o.normaliser == Normaliser::silu) {
    q_ = map("q_proj", width_, width_);
    k_ = map("k_proj", width_, width_);
  }
  const Messages messages = messages_of(o.preset);
  if (messages.deep_values) {
    deep_value_ = child(
        "values", std::make_shared<Mlp>(width_, width_, 3 * width_, Activation::silu, LinearInit::xavier));
  } else {
    value_ = map("v_proj", width_, 3 * width_);
  }
  if (messages.own_products) {
    out_ = map("o_proj", width_, 3 * width_);
    vectors_ = map("vec_proj", width_, 3 * width_, false);
  }
  if (q_) {
    key_filter_ = map("dk_proj", o.kernels, width_);
  }
  value_filter_ = map("dv_proj", o.kernels, 3 * width_);
}

/// The sums over edges of one layer, for any part of the edges.
struct FilteredMessages::Sums {
  enum Input : int64_t { queries, keys, values, vectors, basis, envelope, directions };

  int64_t width, heads;
  bool filter_activation, vector_cutoff;
  EdgeRows basis_rows;
  std::shared_ptr<Linear> key_filter, value_filter;

  /// a without the cut-off, (E, H); undefined: 1.
  Tensor weights(const Tensors& in, const Edges& edges) const {
    if (!key_filter) {
      return {};
    }
    EdgeSums scores;
    scores.heads = heads;
    scores.channels = width;
    scores.inputs = {{EdgeRows::centre}, {EdgeRows::neighbour}, {basis_rows}};
    scores.outputs = {{EdgeRows::edge, EdgeWidth::heads}};
    scores.terms = {{{{0}, {1}, {2}}, {0}}};
    return at::silu(edge_sums(scores, {in[queries], in[keys], activated(*key_filter, in[basis])}, edges)[0]);
  }

  /// m (N, F) and V (N, 3, F).
  Tensors operator()(const Tensors& in, const Edges& edges) const {
    const Tensor fade = in[envelope].unsqueeze(1);
    const Tensor filters =
        filter_activation ? activated(*value_filter, in[basis]) : (*value_filter)(in[basis]);
    const Tensor alpha = weights(in, edges);
    // With vector_cutoff the cut-off weighs all of a message, without it (ET as published) the scores alone.
    const Tensor scalar_weights = alpha.defined() ? alpha * fade : in[envelope];
    const Tensor towards = vector_cutoff ? in[directions] * fade : in[directions];

    enum Factor : int64_t { value, filter, weight, vector, direction, cutoff };
    EdgeSums sums;
    sums.heads = heads;
    sums.channels = width;
    sums.inputs = {{EdgeRows::neighbour, EdgeWidth::channels, false, 3},
                   {basis_rows, EdgeWidth::channels, false, 3},
                   {EdgeRows::edge, alpha.defined() ? EdgeWidth::heads : EdgeWidth::one},
                   {EdgeRows::neighbour, EdgeWidth::channels, true},
                   {EdgeRows::edge, EdgeWidth::one, true},
                   {EdgeRows::edge, EdgeWidth::one}};
    sums.outputs = {{EdgeRows::centre}, {EdgeRows::centre, EdgeWidth::channels, true}};
    sums.terms = {{{{weight}, {value, 0}, {filter, 0}}, {0}},
                  {{{vector}, {value, 1}, {filter, 1}}, {1}},
                  {{{direction}, {value, 2}, {filter, 2}}, {1}}};
    Tensors factors{in[values], filters, scalar_weights, in[vectors], towards};
    if (vector_cutoff) {
      sums.terms[1].factors.push_back({cutoff});
      factors.push_back(in[envelope]);
    } else {
      sums.inputs.pop_back();
    }
    return edge_sums(sums, factors, edges);
  }
};

StreamAttention::Streams FilteredMessages::operator()(const Tensor& x, const Tensor& v,
                                                      const Neighbourhood& near) const {
  const Sums sums{width_,          heads_,      filter_activation_, vector_cutoff_,
                  near.basis_rows, key_filter_, value_filter_};
  constexpr BlockRows node = BlockRows::node, edge = BlockRows::edge;
  const Tensors summed = near.in_blocks(
      sums, {{node, node, node, node, near.block_rows(), edge, edge}, {node, node}},
      {q_ ? (*q_)(x) : Tensor(), k_ ? (*k_)(x) : Tensor(), deep_value_ ? (*deep_value_)(x) : (*value_)(x), v,
       near.basis, near.envelope, near.directions});
  if (!out_) {
    return {summed[0], summed[1]};
  }
  const auto o = (*out_)(summed[0]).chunk(3, -1), p = (*vectors_)(v).chunk(3, -1);
  return {(p[0] * p[1]).sum(1) * o[1] + o[2], p[2] * o[0].unsqueeze(1) + summed[1]};
}

Work FilteredMessages::work(const Around& around, bool equ_learns) const {
  const auto weights = [](const std::shared_ptr<Linear>& map) {
    return map ? static_cast<double>(map->weight().numel()) : 0;
  };
  const auto width = static_cast<double>(width_);
  const double equ = equ_learns ? 1 : 0, scored = key_filter_ ? 1 : 0;
  const double values = deep_value_ ? 4 * width * width : weights(value_);
  Work work = Work::product(weights(q_) + weights(k_) + values + weights(out_)) +
              Work::product(3 * weights(vectors_), 1 + equ) +
              around.of_basis(weights(key_filter_) + weights(value_filter_));
  // Sums over edges, of whose factors cut-offs and directions depend on no parameter: scores, m, and V's two.
  work += around.edges * (Work::product(scored * width, 3) + Work::product(width, 2 + scored) +
                          Work::product(3 * width, 2 + equ) + Work::product(3 * width, 2));
  return work;
}

}  // namespace weyl::geomformer
