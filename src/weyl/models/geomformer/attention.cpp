#include "weyl/models/geomformer/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/edge_sums.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/segment.h"

namespace weyl::geomformer {
namespace {

constexpr double least_sum = 1e-12;

/// (N, H h) -> (N, H, h), (N, 3, H h) -> (N, 3, H, h): products of a head's vectors sum over xyz too.
Tensor by_heads(const Tensor& x, int64_t heads) {
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() /= heads;
  shape.insert(shape.end() - 1, heads);
  return x.reshape(shape);
}

Tensor product(const Tensor& x, const Tensor& y) {
  return (x * y).sum(1);  // <X, Y>
}

/// Maps of a stream in their order, handed out one by one. Split at once: slices taken one by one would each
/// fill and add a gradient of the whole width.
class Maps {
 public:
  Maps(const Tensor& all, int64_t width) {
    if (all.defined()) {
      maps_ = all.split(width, -1);
    }
  }
  Tensor next() { return maps_[taken_++]; }

 private:
  std::vector<Tensor> maps_;
  size_t taken_ = 0;
};

}  // namespace

Tensor normalised(const Tensor& scores, const Tensor& envelope, const Edges& edges, Normaliser law) {
  const bool weighted = envelope.defined();
  const Segments& centres = edges.of_centre;
  switch (law) {
    case Normaliser::silu:
      return weighted ? at::silu(scores) * envelope.unsqueeze(1) : at::silu(scores);
    case Normaliser::constant:
      return weighted ? envelope.unsqueeze(1).expand_as(scores) : scores.new_ones(scores.sizes());
    case Normaliser::softmax:
    case Normaliser::count:
      break;
  }
  Tensor shares =
      weighted ? segment_softmax(scores, centres, envelope, least_sum) : segment_softmax(scores, centres);
  if (law == Normaliser::softmax) {
    return shares;
  }
  const Tensor ones = weighted ? envelope : scores.new_ones({scores.size(0)});
  return shares * segment_sum(ones, centres).index_select(0, edges.centre).unsqueeze(1);
}

StreamAttention::StreamAttention(const Options& o)
    : width_(o.width),
      heads_(o.heads),
      normaliser_(o.normaliser),
      equ_scale_(o.equ_scale),
      dropout_(o.dropout.attention),
      shared_query_(o.shared_query),
      parts_{o.parts.inv_self, o.parts.inv_cross, o.parts.equ_self, o.parts.equ_cross} {
  const int64_t own_query = shared_query_ ? 0 : 1;
  const int64_t of_inv =
      (parts_[inv_self] ? 3 : 0) + (parts_[inv_cross] ? own_query : 0) + (parts_[equ_cross] ? 2 : 0);
  const int64_t products =
      (parts_[inv_cross] ? 4 : 0) + (parts_[equ_self] ? 2 : 0) + (parts_[equ_cross] ? own_query + 1 : 0);
  const int64_t of_joined = o.towers == Towers::joined ? products : 0;
  const int64_t of_equ = products - of_joined + (parts_[equ_self] ? 1 : 0) + (parts_[equ_cross] ? 1 : 0);
  const auto map = [&](const char* name, int64_t count) {
    return count > 0 ? child(name, std::make_shared<Linear>(width_, count * width_, /*bias=*/false))
                     : nullptr;
  };
  inv_ = map("inv", of_inv);
  equ_ = map("equ", of_equ);
  if (of_joined > 0) {
    joined_ = child("joined", std::make_shared<Linear>(2 * width_, of_joined * width_, /*bias=*/false));
  }
  const char* names[] = {"out_inv_self", "out_inv_cross", "out_equ_self", "out_equ_cross"};
  for (size_t part = 0; part < parts_.size(); ++part) {
    out_[part] = map(names[part], parts_[part] ? 1 : 0);
    if (out_[part]) {
      out_[part]->scale_init(residual_init(o));
    }
  }
}

Tensor StreamAttention::attend(const Tensor& q, const Tensor& k, const Tensor& v, const Segments& graphs,
                               const Neighbourhood& near, const Tensor& bias) const {
  const int64_t head = width_ / heads_;
  const bool vectors = q.dim() == 3;
  const double summed =
      static_cast<double>(vectors && equ_scale_ == EquivariantScale::vectors ? 3 * head : head);
  const double scale = 1 / std::sqrt(summed);
  const bool drop = training() && dropout_ > 0;
  if (!near.envelope.defined() && normaliser_ == Normaliser::softmax && !drop) {
    return ragged_attention(by_heads(q, heads_), by_heads(k, heads_), by_heads(v, heads_), graphs, scale,
                            bias)
        .reshape(q.sizes());
  }
  const EdgeTensor of_centre{EdgeRows::centre, EdgeWidth::channels, vectors},
      of_neighbour{EdgeRows::neighbour, EdgeWidth::channels, vectors},
      of_edge{EdgeRows::edge, EdgeWidth::heads};
  EdgeSums dots, mixture;
  dots.heads = mixture.heads = heads_;
  dots.channels = mixture.channels = width_;
  dots.inputs = {of_centre, of_neighbour};
  dots.outputs = {of_edge};
  mixture.inputs = {of_edge, of_neighbour};
  mixture.outputs = {of_centre};
  dots.terms = mixture.terms = {{{{0}, {1}}, {0}}};
  const auto f = [=, law = normaliser_, rate = drop ? dropout_ : 0](const Tensors& in, const Edges& edges) {
    Tensor scores = edge_sums(dots, {in[0] * scale, in[1]}, edges)[0];
    if (in[3].defined()) {
      scores = scores + in[3];
    }
    Tensor weights = normalised(scores, in[4], edges, law);
    if (rate > 0) {
      weights = at::dropout(weights, rate, /*train=*/true);
    }
    return edge_sums(mixture, {weights, in[2]}, edges);
  };
  constexpr BlockRows node = BlockRows::node, edge = BlockRows::edge;
  return near.in_blocks(f, {{node, node, node, edge, edge}, {node}}, {q, k, v, bias, near.envelope})[0];
}

StreamAttention::Streams StreamAttention::operator()(const Tensor& i, const Tensor& e, const Tensor& joined,
                                                     const Segments& graphs, const Neighbourhood& near,
                                                     const Biases& bias,
                                                     const std::array<bool, 4>& wanted) const {
  Maps inv(inv_ ? (*inv_)(i) : Tensor(), width_), equ(equ_ ? (*equ_)(e) : Tensor(), width_),
      both(joined_ ? (*joined_)(joined) : Tensor(), width_);
  Maps& products = joined_ ? both : equ;
  Streams add;
  const auto attended = [&](Part part, const Tensor& q, const Tensor& k, const Tensor& v, Tensor& sum) {
    if (wanted[part]) {
      const Tensor y = (*out_[part])(attend(q, k, v, graphs, near, bias[part]));
      sum = sum.defined() ? sum + y : y;
    }
  };
  Tensor inv_query, equ_query;
  if (parts_[inv_self]) {
    const Tensor q = inv.next(), k = inv.next(), v = inv.next();
    inv_query = q;
    attended(inv_self, q, k, v, add.inv);
  }
  if (parts_[inv_cross]) {
    const Tensor q = shared_query_ ? inv_query : inv.next();
    const Tensor k1 = products.next(), k2 = products.next(), v1 = products.next(), v2 = products.next();
    attended(inv_cross, q, product(k1, k2), product(v1, v2), add.inv);
  }
  if (parts_[equ_self]) {
    const Tensor q = products.next(), k = products.next(), v = equ.next();
    equ_query = q;
    attended(equ_self, q, k, v, add.equ);
  }
  if (parts_[equ_cross]) {
    const Tensor q = shared_query_ ? equ_query : products.next();
    const Tensor k1 = products.next(), v1 = equ.next(), k2 = inv.next(), v2 = inv.next();
    attended(equ_cross, q, k1 * k2.unsqueeze(1), v1 * v2.unsqueeze(1), add.equ);
  }
  return add;
}

Work StreamAttention::work(const Around& around, bool equ_learns, double times) const {
  const auto width = static_cast<double>(width_);
  const auto weights = [](const std::shared_ptr<Linear>& map) {
    return map ? static_cast<double>(map->weight().numel()) : 0;
  };
  Work work = times * (Work::product(weights(inv_)) +
                       Work::product(3 * (weights(equ_) + weights(joined_)), equ_learns ? 2 : 1));
  // Constant weights take neither scores nor a derivative.
  const bool weighs = normaliser_ != Normaliser::constant;
  for (const Part part : {inv_self, inv_cross, equ_self, equ_cross}) {
    const double axes = part == equ_self || part == equ_cross ? 3 : 1, pairs = axes * around.edges * width;
    if (parts_[part]) {
      work += Work::product(axes * weights(out_[part])) + Work::product(pairs, weighs ? 2 : 0) +
              Work::product(pairs, weighs ? 2 : 1);
    }
  }
  return work;
}

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
