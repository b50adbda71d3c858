#include "weyl/models/geomformer/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/silu.h>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/edges/edge_attention.h"
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
      dropout_(o.dropout.attention),
      parts_{o.parts.inv_self, o.parts.inv_cross, o.parts.equ_self, o.parts.equ_cross} {
  // Maps of inv, of equ, and, with joined towers, of both towers' vectors, counted after those of equ: what inner products
  // are made of.
  const bool joined = o.towers == Towers::joined;
  const int64_t own = parts_[equ_self] + parts_[equ_cross];
  int64_t of_inv = 0, of_equ = 0, of_joined = own, inv_query = 0, equ_query = 0;
  int64_t& products = joined ? of_joined : of_equ;
  const auto head = static_cast<double>(width_ / heads_);
  const double of_vectors = 1 / std::sqrt(o.equ_scale == EquivariantScale::vectors ? 3 * head : head);
  if (parts_[inv_self]) {
    inv_query = of_inv;
    maps_[inv_self] = {false, of_inv, of_inv + 1, of_inv + 2, -1, -1, 1 / std::sqrt(head)};
    of_inv += 3;
  }
  if (parts_[inv_cross]) {
    const int64_t query = o.shared_query ? inv_query : of_inv++, first = products;
    maps_[inv_cross] = {false, query, first, first + 2, first + 1, first + 3, 1 / std::sqrt(head)};
    products += 4;
  }
  if (parts_[equ_self]) {
    equ_query = products++;
    const int64_t key = products++, value = of_equ++;
    maps_[equ_self] = {true, equ_query, key, value, -1, -1, of_vectors};
  }
  if (parts_[equ_cross]) {
    const int64_t query = o.shared_query ? equ_query : products++;
    const int64_t key = products++, value = of_equ++;
    maps_[equ_cross] = {true, query, key, value, of_inv, of_inv + 1, of_vectors};
    of_inv += 2;
  }
  const auto map = [&](const char* name, int64_t in, int64_t out) {
    return in > 0 && out > 0
               ? child(name, std::make_shared<Linear>(in * width_, out * width_, /*bias=*/false, o.init))
               : nullptr;
  };
  inv_ = map("inv", 1, of_inv);
  equ_ = map("equ", 1, of_equ);
  joined_ = joined ? map("joined", 2, of_joined - own) : nullptr;
  out_[0] = map("out_inv", parts_[inv_self] + parts_[inv_cross], 1);
  out_[1] = map("out_equ", parts_[equ_self] + parts_[equ_cross], 1);
  for (const auto& out : out_) {
    if (out) {  // each attention's own map starts as one of its width does
      out->scale_init(residual_init(o) * std::sqrt(static_cast<double>(out->weight().size(1) / width_)));
    }
  }
}

Tensors StreamAttention::of_pairs(const std::vector<Part>& parts, const Tensor& inv, const Tensor& equ,
                                  const Segments& graphs, const Biases& bias) const {
  std::array<Tensors, 2> sums;
  // Split at once: slices taken one by one would each fill and add a gradient of the whole width.
  const auto split = [&](const Tensor& maps) { return maps.defined() ? maps.split(width_, -1) : Tensors{}; };
  const Tensors of_inv = split(inv), of_equ = split(equ);
  for (const Part part : parts) {
    const StreamPart& m = maps_[part];
    const auto [q, k, v] = operands_of(m, of_inv, of_equ);
    const Tensor y = ragged_attention(by_heads(q, heads_), by_heads(k, heads_), by_heads(v, heads_), graphs,
                                      m.scale, bias[part]);
    sums[m.vectors].push_back(y.reshape(q.sizes()));
  }
  Tensors out;
  for (const Tensors& of : sums) {
    if (!of.empty()) {
      out.push_back(of.size() == 1 ? of[0] : at::cat(of, -1));
    }
  }
  return out;
}

Tensors StreamAttention::of_edges(const std::vector<Part>& parts, const Tensor& inv, const Tensor& equ,
                                  const Neighbourhood& near, const Biases& bias) const {
  EdgeAttention form;
  form.heads = heads_;
  form.width = width_;
  form.least = least_sum;
  Tensors biases;
  bool alike = true;
  std::array<bool, 2> given{false, false};
  for (const Part part : parts) {
    form.parts.push_back(maps_[part]);
    given[maps_[part].vectors] = true;
    biases.push_back(bias[part]);
    alike = alike && biases.back().is_same(biases[0]);
  }
  const double rate = training() ? dropout_ : 0;
  if (normaliser_ != Normaliser::softmax || rate > 0) {
    form.weigh = [law = normaliser_, rate](const Tensor& scores, const Tensor& envelope, const Edges& edges) {
      const Tensor weights = normalised(scores, envelope, edges, law);
      return rate > 0 ? at::dropout(weights, rate, /*train=*/true) : weights;
    };
  }
  const auto f = [form](const Tensors& in, const Edges& edges) { return edge_attention(form, in, edges); };
  constexpr BlockRows node = BlockRows::node, edge = BlockRows::edge;
  return near.in_blocks(f, {{node, node, edge, edge}, std::vector<BlockRows>(given[0] + given[1], node)},
                        {inv, equ, alike ? biases[0] : at::cat(biases, -1), near.envelope});
}

StreamAttention::Streams StreamAttention::operator()(const Tensor& i, const Tensor& e, const Tensor& joined,
                                                     const Segments& graphs, const Neighbourhood& near,
                                                     const Biases& bias,
                                                     const std::array<bool, 4>& wanted) const {
  std::vector<Part> parts;
  for (const Part part : {inv_self, inv_cross, equ_self, equ_cross}) {
    if (wanted[part]) {
      parts.push_back(part);
    }
  }
  if (parts.empty()) {
    return {};
  }
  const Tensor inv = inv_ ? (*inv_)(i) : Tensor();
  Tensor equ = equ_ ? (*equ_)(e) : Tensor();
  if (joined_) {
    const Tensor both = (*joined_)(joined);
    equ = equ.defined() ? at::cat({equ, both}, -1) : both;
  }
  const bool drop = training() && dropout_ > 0;
  const bool all_pairs = !near.envelope.defined() && normaliser_ == Normaliser::softmax && !drop;
  const Tensors sums =
      all_pairs ? of_pairs(parts, inv, equ, graphs, bias) : of_edges(parts, inv, equ, near, bias);
  // The map of a stream, or the columns of one of its two attentions where only that is wanted.
  const auto given = [&](const Tensor& sum, Part self, Part cross) {
    const Linear& out = *out_[maps_[self].vectors || maps_[cross].vectors];
    if (sum.size(-1) == out.weight().size(1)) {
      return out(sum);
    }
    return at::linear(sum, out.weight().narrow(1, wanted[self] ? 0 : width_, width_));
  };
  Streams add;
  size_t next = 0;
  if (wanted[inv_self] || wanted[inv_cross]) {
    add.inv = given(sums[next++], inv_self, inv_cross);
  }
  if (wanted[equ_self] || wanted[equ_cross]) {
    add.equ = given(sums[next], equ_self, equ_cross);
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
      work += Work::product(axes * width * width) + Work::product(pairs, weighs ? 2 : 0) +
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
    : width_(o.width), heads_(messages_of(o).scores ? o.heads : 1), messages_(messages_of(o)) {
  const auto map = [&](const char* name, int64_t in, int64_t out, bool bias = true) {
    return child(name, std::make_shared<Linear>(in, out, bias, LinearInit::xavier));
  };
  const int64_t values = (messages_.vectors ? 3 : 1) * width_;
  if (messages_.scores) {
    q_ = map("q_proj", width_, width_);
    k_ = map("k_proj", width_, width_);
  }
  if (messages_.deep_values) {
    deep_value_ =
        child("values", std::make_shared<Mlp>(width_, width_, values, Activation::silu, LinearInit::xavier));
  } else {
    value_ = map("v_proj", width_, values);
    value_->scale_init(attends(o.interaction) ? residual_init(o) : 1);
  }
  if (messages_.own_products) {
    out_ = map("o_proj", width_, 3 * width_);
    vectors_ = map("vec_proj", width_, 3 * width_, false);
  }
  if (q_) {
    key_filter_ = map("dk_proj", o.kernels, width_);
  }
  value_filter_ = map("dv_proj", o.kernels, values);
}

/// The sums over edges of one layer, for any part of the edges.
struct FilteredMessages::Sums {
  enum Input : int64_t { queries, keys, values, vectors, basis, envelope, directions };

  int64_t width, heads;
  Messages messages;
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

  /// m (N, F) and, where asked for, V (N, 3, F).
  Tensors operator()(const Tensors& in, const Edges& edges) const {
    const Tensor fade = in[envelope].unsqueeze(1);
    const Tensor filters =
        messages.filter_activation ? activated(*value_filter, in[basis]) : (*value_filter)(in[basis]);
    const Tensor alpha = weights(in, edges);
    // With vector_cutoff the cut-off weighs all of a message, without it (ET as published) the scores alone.
    const Tensor scalar_weights = alpha.defined() ? alpha * fade : in[envelope];
    const Tensor towards = messages.vector_cutoff ? in[directions] * fade : in[directions];

    enum Factor : int64_t { value, filter, weight, vector, direction, cutoff };
    EdgeSums sums;
    sums.heads = heads;
    sums.channels = width;
    const int64_t parts = messages.vectors ? 3 : 1;
    sums.inputs = {{EdgeRows::neighbour, EdgeWidth::channels, false, parts},
                   {basis_rows, EdgeWidth::channels, false, parts},
                   {EdgeRows::edge, alpha.defined() ? EdgeWidth::heads : EdgeWidth::one}};
    sums.outputs = {{EdgeRows::centre}};
    sums.terms = {{{{weight}, {value, 0}, {filter, 0}}, {0}}};
    Tensors factors{in[values], filters, scalar_weights};
    if (!messages.vectors) {
      return edge_sums(sums, factors, edges);
    }
    sums.inputs.insert(sums.inputs.end(), {{EdgeRows::neighbour, EdgeWidth::channels, true},
                                           {EdgeRows::edge, EdgeWidth::one, true},
                                           {EdgeRows::edge, EdgeWidth::one}});
    sums.outputs.push_back({EdgeRows::centre, EdgeWidth::channels, true});
    sums.terms.push_back({{{vector}, {value, 1}, {filter, 1}}, {1}});
    sums.terms.push_back({{{direction}, {value, 2}, {filter, 2}}, {1}});
    factors.insert(factors.end(), {in[vectors], towards});
    if (messages.vector_cutoff) {
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
  const Sums sums{width_, heads_, messages_, near.basis_rows, key_filter_, value_filter_};
  constexpr BlockRows node = BlockRows::node, edge = BlockRows::edge;
  const Tensors summed = near.in_blocks(
      sums,
      {{node, node, node, node, near.block_rows(), edge, edge},
       std::vector<BlockRows>(messages_.vectors ? 2 : 1, node)},
      {q_ ? (*q_)(x) : Tensor(), k_ ? (*k_)(x) : Tensor(), deep_value_ ? (*deep_value_)(x) : (*value_)(x), v,
       near.basis, near.envelope, near.directions});
  if (!out_) {
    return {summed[0], messages_.vectors ? summed[1] : Tensor()};
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
  work += around.edges * (Work::product(scored * width, 3) + Work::product(width, 2 + scored));
  if (messages_.vectors) {
    work += around.edges * (Work::product(3 * width, 2 + equ) + Work::product(3 * width, 2));
  }
  return work;
}

}  // namespace weyl::geomformer
