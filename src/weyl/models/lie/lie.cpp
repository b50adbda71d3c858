#include "weyl/models/lie/lie.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/nn/pooling.h"
#include "weyl/ops/attention/attention.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"
#include "weyl/ops/lie/attention.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/ops/lie/factors.h"
#include "weyl/ops/lie/log.h"

namespace weyl::lie {
namespace {

/// x W^T in the precision of x, also under autocast.
Tensor product(const Tensor& x, const Tensor& weight) {
  return at::linear(x, weight).to(x.scalar_type());
}

}  // namespace

Block::Block(const Options& options, int64_t pair_width)
    : width_(options.width),
      heads_(options.heads),
      pair_width_(pair_width),
      hidden_(options.ffn_factor * options.width) {
  const auto linear = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out));
  };
  norm1_ = child("norm1", std::make_shared<LayerNorm>(width_));
  if (options.variant == Variant::A) {
    query_ = linear("query", width_, width_);
    key_ = linear("key", width_, width_);
  }
  value_ = linear("value", width_ + pair_width_, width_);
  out_ = linear("out", width_, width_);
  norm2_ = child("norm2", std::make_shared<LayerNorm>(width_));
  first_ = linear("ffn.0", width_, hidden_);
  second_ = linear("ffn.2", hidden_, width_);
}

Tensor Block::attention(const Tensor& x, const LayerScore* score, const Relations& relations,
                        const Segments& graphs) const {
  const int64_t n = x.size(0), channels = width_ / heads_;
  const std::vector<int64_t> by_head{n, heads_, channels};
  if (score == nullptr) {
    const auto dtype = x.scalar_type();
    const Tensor q = (*query_)(x).to(dtype), k = (*key_)(x).to(dtype), v = (*value_)(x).to(dtype);
    return ragged_attention(q.view(by_head), k.view(by_head), v.view(by_head), graphs,
                            1 / std::sqrt(static_cast<double>(channels)))
        .reshape({n, width_});
  }
  // W_V [x; w] = W_h x + b + W_w w: the weights of a row sum to one, so W_w may act on the mean of w, and the
  // bias, added to each value, comes out once (and not at all for a row without pairs).
  const auto parts = value_->weight().split_with_sizes({width_, pair_width_}, 1);
  const Tensor values = at::linear(x, parts[0], value_->bias()).to(x.scalar_type()).view(by_head);
  const Attention mixed = score->attend(relations, values, graphs);
  // Every head's W_w among the columns of its own mean, (H C, H E), so that one product serves all.
  const Tensor own = at::eye(heads_, parts[1].options().requires_grad(false)).view({heads_, 1, heads_, 1});
  const Tensor from_w = (parts[1].reshape({heads_, channels, 1, pair_width_}) * own).view({width_, -1});
  return mixed.mixed.reshape({n, width_}) +
         product(mixed.coordinates.reshape({n, heads_ * pair_width_}), from_w);
}

Stream Block::operator()(const Stream& in, const LayerNorm& next, const LayerScore* score,
                         const Relations& relations, const Segments& graphs) const {
  const Tensor mixed = product(attention(in.normed, score, relations, graphs), out_->weight());
  const auto middle = add_branch_and_norm(in.h, mixed, out_->bias(), norm2_->law());
  const Tensor inner = bias_gelu(product(middle.normed, first_->weight()), first_->bias());
  const auto end =
      add_branch_and_norm(middle.sum, product(inner, second_->weight()), second_->bias(), next.law());
  return {end.sum, end.normed};
}

Work Block::work(double pairs, bool moved) const {
  const auto d = static_cast<double>(width_), of_pair = static_cast<double>(heads_ * pair_width_);
  const double scored = query_ ? 2 : 1;  // A has products of queries and keys too
  // W_w reads the means of all heads, each of which it has its own columns for.
  return Work::product(2 * scored * d * d + d * of_pair + 2 * d * static_cast<double>(hidden_)) +
         Work::product(pairs * scored * d) + Work::product(pairs * of_pair, moved ? 2 : 1);
}

namespace {

/// The raw numbers of an element: (c, s) or the rows of R or A, then t.
int64_t raw_numbers(LieGroup group) {
  const int64_t n = dimension_of(group), m = matrix_size(group);
  const int64_t linear = n == 2 && is_rigid(group) ? 2 : n * n;
  return linear + (m > n ? n : 0);
}

Tensor raw(LieGroup group, const Tensor& matrices) {
  const int64_t n = dimension_of(group), m = matrix_size(group);
  Tensor linear = matrices.narrow(1, 0, n).narrow(2, 0, n);
  if (n == 2 && is_rigid(group)) {
    linear = linear.select(2, 0);
  }
  linear = linear.flatten(1);
  return m == n ? linear : at::cat({linear, matrices.narrow(1, 0, n).select(2, n)}, 1);
}

/// Corrections and elements are both made by a network that gives coordinates of the algebra.
bool is_correction(const Quantity& q, LieGroup group) {
  return q.kind == Kind::element || (q.kind == Kind::scalar && q.level == Level::node &&
                                     q.role == Role::offset && q.channels == degrees_of_freedom(group));
}

/// Matrices (N, m, m) with their translations in another unit of length, times `factor`.
Tensor with_lengths(const Tensor& matrices, LieGroup group, double factor) {
  const int64_t n = dimension_of(group), m = matrix_size(group);
  if (factor == 1 || m == n) {
    return matrices;
  }
  Tensor factors = at::ones({m, m}, matrices.options().requires_grad(false));
  factors.narrow(0, 0, n).select(1, n).fill_(factor);
  return matrices * factors;
}

/// The same of coordinates (N, dof), physical or orthonormal.
Tensor with_lengths_of_coordinates(const Tensor& w, LieGroup group, double factor) {
  const LieBlock& first = blocks_of(group).front();
  if (factor == 1 || first.part != LiePart::translation) {
    return w;
  }
  Tensor factors = at::ones({w.size(1)}, w.options().requires_grad(false));
  factors.narrow(0, first.begin, first.size).fill_(factor);
  return w * factors;
}

}  // namespace

Transformer::Transformer(const Options& given, const Interface& interface)
    : PosesModel(interface), options(given) {
  const int64_t dof = degrees_of_freedom(group()), d = options.width;
  const bool raw_poses = options.variant == Variant::A;
  require<ConfigError>(d % options.heads == 0, "model.lie.heads: must divide the width ", d, ", got ",
                       options.heads);
  require<ConfigError>(!(options.move_tokens && raw_poses),
                       "model.lie.move_tokens: goes with variants G and C, which see poses in every block");
  require<ConfigError>(options.neighbours == 0 || !raw_poses,
                       "model.lie.neighbours: goes with variants G and C, which see poses in every block");
  require<ConfigError>(options.nearest == 0 || !raw_poses,
                       "model.lie.nearest: goes with variants G and C, which see poses in every block");
  require<ConfigError>(options.order == Order::none || !raw_poses,
                       "model.lie.order: goes with variants G and C, whose scores it is part of");
  require<ConfigError>(
      !options.directed || options.variant == Variant::G,
      "model.lie.directed: goes with variant G; the scores of C and A are directed as they are");
  require<ConfigError>(!(options.metric == Metric::full && options.chart == ChartPolicy::frobenius),
                       "model.lie.metric: a full metric weighs the coordinates of logarithms, of which "
                       "chart = \"frobenius\" takes none; choose another chart, or metric = \"blocks\"");
  for (const auto& q : interface.features) {
    scalars_ += q.channels;
  }
  if (!raw_poses) {
    score_ = child("score", make_score(options, group()));
    initial_ = parameter("start", {d}, Init::normal(0.02));
    if (scalars_ > 0) {
      features_ = child("features", std::make_shared<Linear>(scalars_, d, /*bias=*/false));
    }
  } else {
    embedding_ = child("embedding", std::make_shared<Linear>(raw_numbers(group()) + scalars_, d));
  }
  for (int64_t l = 0; l < options.blocks; ++l) {
    const std::string number = std::to_string(l);
    blocks_.push_back(child("blocks." + number, std::make_shared<Block>(options, raw_poses ? 0 : dof)));
    if (options.move_tokens && l + 1 < options.blocks) {
      moves_.push_back(child("move." + number, std::make_shared<Linear>(d, dof)));
    }
  }
  norm_ = child("norm", std::make_shared<LayerNorm>(d));
  for (const auto& q : interface.outputs) {
    const bool of_graphs = q.level == Level::graph && q.kind == Kind::scalar;
    require<ConfigError>(
        of_graphs || (q.level == Level::node && (q.kind == Kind::scalar || q.kind == Kind::element)),
        "lie: output '", q.name, "' (", level_names[static_cast<int>(q.level)], " ",
        kind_names[static_cast<int>(q.kind)],
        ") is not one that this system gives: scalars and elements of nodes are, and scalars of graphs");
    const std::string name = "head." + q.name;
    if (of_graphs) {
      heads_.push_back(child(name, std::make_shared<Mlp>(d, d, q.channels)));
      continue;
    }
    heads_.push_back(is_correction(q, group()) ? std::static_pointer_cast<Module>(
                                                     child(name, std::make_shared<Mlp>(d, d, numbers_of(q))))
                                               : child(name, std::make_shared<Linear>(d, q.channels)));
  }
}

int64_t Transformer::numbers_of(const Quantity& q) const {
  const bool direct = q.kind == Kind::element && options.factor == FactorForm::direct;
  return direct ? factor_numbers(group()) : degrees_of_freedom(group());
}

Tensor Transformer::factor_of(const Tensor& orthonormal) const {
  return exp(from_orthonormal(orthonormal.to(at::kDouble), group()), group());
}

Tensor Transformer::factor_of_element(const Tensor& numbers) const {
  return options.factor == FactorForm::direct ? factors(numbers.to(at::kDouble), group())
                                              : factor_of(numbers);
}

Tensor Transformer::coordinates_of(const Tensor& factor) const {
  const Tensor one = compact_elements(at::eye(matrix_size(group()), factor.options()).unsqueeze(0), group());
  const Logs found = logs(one.expand_as(factor), factor, group());
  if (!is_rigid(group())) {
    const Tensor outside = (found.margin <= 0).nonzero();
    require(outside.size(0) == 0, "lie: a correction must be inside the chart of the logarithm of ",
            name_of(group()), ", but ", outside.size(0),
            " tokens, moved (model.lie.move_tokens) and then corrected, are beyond it; an "
            "output of kind element is not bound to it");
  }
  return to_orthonormal(found.w, group());
}

Tensor Transformer::embedded(const Poses& poses) const {
  if (embedding_) {
    const Tensor numbers = raw(group(), with_lengths(poses.elements, group(), 1 / options.length_scale));
    return (*embedding_)(scalars_ > 0 ? at::cat({numbers, poses.scalars}, 1) : numbers);
  }
  const Tensor h = initial_.expand({poses.nodes(), options.width});
  return features_ ? h + (*features_)(poses.scalars) : h.contiguous();
}

Named Transformer::forward(const Poses& poses) {
  const auto dtype = poses.elements.scalar_type();
  const Segments& graphs = poses.graphs;
  Tensor moved;  // by what: now = before * moved; undefined: not at all
  Relations relations;
  const double unit = options.length_scale;
  Tensor tokens = compact_elements(with_lengths(poses.elements.to(at::kDouble), group(), 1 / unit),
                                   group());  // where they are now
  View view{group(), options.chart, {}, options.order == Order::causal, options.neighbours, options.nearest};
  if (score_) {
    view.reads = score_->reads();
    relations = relate(view, tokens, graphs, dtype);
  }
  const auto scores = score_ ? score_->layers() : std::vector<LayerScore>();
  Stream stream{embedded(poses).to(dtype), {}};
  stream.normed = (blocks_.empty() ? *norm_ : blocks_[0]->entry_norm())(stream.h);
  for (size_t l = 0; l < blocks_.size(); ++l) {
    const bool last = l + 1 == blocks_.size();
    stream = (*blocks_[l])(stream, last ? *norm_ : blocks_[l + 1]->entry_norm(),
                           score_ ? &scores[l] : nullptr, relations, graphs);
    if (!last && !moves_.empty()) {
      const Tensor step = factor_of((*moves_[l])(stream.normed));
      tokens = compose(tokens, step, group());
      moved = moved.defined() ? compose(moved, step, group()) : step;
      relations = relate(view, tokens, graphs, dtype);
    }
  }
  Named outputs;
  for (size_t k = 0; k < heads_.size(); ++k) {
    const Quantity& q = interface.outputs[k];
    if (q.level == Level::graph) {
      const auto& head = static_cast<const Mlp&>(*heads_[k]);
      outputs[q.name] = q.extensive ? sum_nodes(head(stream.normed), graphs)
                                    : head(pool_nodes(stream.normed, graphs, Pooling::mean, 1)).to(dtype);
      continue;
    }
    if (!is_correction(q, group())) {
      outputs[q.name] = static_cast<const Linear&>(*heads_[k])(stream.normed).to(dtype);
      continue;
    }
    const Tensor delta = static_cast<const Mlp&>(*heads_[k])(stream.normed).to(dtype);
    if (q.kind == Kind::element) {
      const Tensor made = element_matrices(compose(tokens, factor_of_element(delta), group()), group());
      outputs[q.name] = with_lengths(made, group(), unit).to(dtype);
    } else {
      const Tensor w =
          moved.defined() ? coordinates_of(compose(moved, factor_of(delta), group())).to(dtype) : delta;
      outputs[q.name] = with_lengths_of_coordinates(w, group(), unit);
    }
  }
  return outputs;
}

Symmetry Transformer::symmetry() const {
  Symmetry symmetry;
  if (score_) {
    symmetry.exact.push_back({Claim::Of::left_motions, symbol_of(group()), nullptr});
  }
  if (options.order == Order::none) {
    symmetry.exact.push_back({Claim::Of::permutations, "permutations", nullptr});
  }
  return symmetry;
}

std::string Transformer::stored_for(bool training) const {
  if (!score_) {
    return "";
  }
  if (options.neighbours > 0 || options.nearest > 0) {
    const bool by_cells = is_rigid(group()) && matrix_size(group()) > dimension_of(group());
    return by_cells ? "" : "the neighbours of this group are";
  }
  if (options.variant == Variant::C) {
    return "the scores of variant = \"C\" are";
  }
  if (options.metric == Metric::full) {
    return "scores with metric = \"full\" are";
  }
  if (device().is_cuda()) {
    return "without a kernel for this device attention is";
  }
  const bool other = options.chart == ChartPolicy::frobenius || options.chart == ChartPolicy::polar;
  return training && other && !moves_.empty()
             ? "gradients by tokens that move, with chart = \"frobenius\" or \"polar\", are"
             : "";
}

std::string Transformer::storage_text(const std::string& reason, double tokens) const {
  const auto E = static_cast<double>(degrees_of_freedom(group())),
             K = static_cast<double>(blocks_of(group()).size());
  // Coordinates and squares in float64, coordinates and scores in the model's dtype.
  const double rounded = dtype() == at::kDouble ? 8 : 4;
  const double bytes = tokens * tokens * (8 * (E + K) + rounded * (E + static_cast<double>(options.heads)));
  return text("model.lie: ", reason, " made of all pairs of tokens in memory: at least ",
              static_cast<int64_t>(std::ceil(bytes / 1e6)), " MB for a sample of ",
              static_cast<int64_t>(tokens), " tokens");
}

std::string Transformer::memory_note(const Input& input) const {
  const auto* poses = std::get_if<Poses>(&input);
  const std::string reason = stored_for(training());
  if (poses == nullptr || reason.empty() || poses->graphs.longest() <= long_graph) {
    return "";
  }
  return storage_text(reason, static_cast<double>(poses->graphs.longest()));
}

std::vector<std::string> Transformer::warnings(std::string_view /*differentiated_by*/) const {
  const std::string reason = stored_for(/*training=*/true);
  if (reason.empty() || interface.typical_nodes <= static_cast<double>(long_graph)) {
    return {};
  }
  return {storage_text(reason, std::round(interface.typical_nodes))};
}

double Transformer::pairs_of_token(double nodes) const {
  const double n = nodes, k = options.nearest > 0 ? static_cast<double>(options.nearest) : n;
  if (options.order != Order::causal) {
    return std::min(n, k);
  }
  // The mean of min(k, i) over the tokens i = 0 .. n - 1.
  return k < n ? k - k * (k + 1) / (2 * n) : (n - 1) / 2;
}

Work Transformer::work(double nodes) const {
  const auto d = static_cast<double>(options.width), dof = static_cast<double>(degrees_of_freedom(group()));
  const double read = static_cast<double>(scalars_ + (embedding_ ? raw_numbers(group()) : 0));
  const double pairs = pairs_of_token(nodes);
  Work work = Work::product(d * read, 1);
  for (size_t l = 0; l < blocks_.size(); ++l) {
    const bool moved = l > 0 && options.move_tokens;
    work += blocks_[l]->work(pairs, moved);
    work += score_ ? pairs * score_->work(moved) : Work();
  }
  work += Work::product(d * dof * static_cast<double>(moves_.size()));
  for (const auto& q : interface.outputs) {
    if (q.level == Level::graph) {
      const Work head = Work::product(d * (d + static_cast<double>(q.channels)));
      work += q.extensive ? head : (1 / nodes) * head;
      continue;
    }
    const auto numbers = static_cast<double>(numbers_of(q));
    work +=
        Work::product(is_correction(q, group()) ? d * (d + numbers) : d * static_cast<double>(q.channels));
  }
  return work;
}

}  // namespace weyl::lie
