#include "weyl/models/lie/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linear.h>

#include <cmath>

#include "weyl/ops/attention/attention.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"
#include "weyl/ops/lie/attention.h"

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

Work Block::work(double graph_nodes, bool moved) const {
  const auto d = static_cast<double>(width_), of_pair = static_cast<double>(heads_ * pair_width_);
  const double scored = query_ ? 2 : 1;  // A has products of queries and keys too
  // W_w reads the means of all heads, each of which it has its own columns for.
  return Work::product(2 * scored * d * d + d * of_pair + 2 * d * static_cast<double>(hidden_)) +
         Work::product(graph_nodes * scored * d) + Work::product(graph_nodes * of_pair, moved ? 2 : 1);
}

}  // namespace weyl::lie
