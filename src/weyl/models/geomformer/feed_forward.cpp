#include "weyl/models/geomformer/feed_forward.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/sqrt.h>

namespace weyl::geomformer {

Tensor drop_vectors(const Tensor& x, double rate) {
  return rate > 0 ? x * at::dropout(x.new_ones({x.size(0), 1, x.size(2)}), rate, /*train=*/true) : x;
}

GatedFeedForward::GatedFeedForward(const Options& o)
    : activation_(o.activation), dropout_(o.dropout.activation) {
  const int64_t d = o.width, r = o.hidden.value_or(o.width);
  const auto map = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out, /*bias=*/false));
  };
  if (o.parts.inv_ffn) {
    inv_in_ = map("inv_in", d, r);
    inv_out_ = map("inv_out", r, d);
    inv_out_->scale_init(residual_init(o));
  }
  if (o.parts.equ_ffn) {
    equ_in_ = map("equ_in", d, r);
    gate_ = map("gate", d, r);
    equ_out_ = map("equ_out", r, d);
    equ_out_->scale_init(residual_init(o));
  }
}

StreamAttention::Streams GatedFeedForward::operator()(const Tensor& i, const Tensor& e) const {
  const double rate = training() ? dropout_ : 0;
  const auto hidden = [&](const Linear& map) {
    const Tensor h = activate(map(i), activation_);
    return rate > 0 ? at::dropout(h, rate, /*train=*/true) : h;
  };
  StreamAttention::Streams add;
  if (inv_in_) {
    add.inv = (*inv_out_)(hidden(*inv_in_));
  }
  if (equ_in_) {
    add.equ = (*equ_out_)((*equ_in_)(e)*hidden(*gate_).unsqueeze(1));
  }
  return add;
}

Work GatedFeedForward::work() const {
  Work work;
  for (const auto& [map, axes] :
       {std::pair(inv_in_, 1), {inv_out_, 1}, {equ_in_, 3}, {gate_, 1}, {equ_out_, 3}}) {
    work += map ? Work::product(axes * static_cast<double>(map->weight().numel())) : Work();
  }
  return work;
}

StreamMixing::StreamMixing(const Options& o)
    : width_(o.width),
      vectors_(child("vectors",
                     std::make_shared<Linear>(o.width, 2 * o.width, /*bias=*/false, LinearInit::xavier))),
      mlp_(child("mlp", std::make_shared<Mlp>(2 * o.width, o.width, 3 * o.width, o.activation,
                                              LinearInit::xavier))) {}

StreamAttention::Streams StreamMixing::operator()(const Tensor& i, const Tensor& e) const {
  const auto maps = (*vectors_)(e).chunk(2, -1);
  const Tensor length = at::sqrt((maps[0] * maps[0]).sum(1) + 1e-8);
  const auto parts = (*mlp_)(at::cat({i, length}, -1)).chunk(3, -1);
  return {parts[0] + parts[2] * (maps[0] * maps[1]).sum(1), parts[1].unsqueeze(1) * maps[1]};
}

Work StreamMixing::work() const {
  return Work::product(static_cast<double>(width_ * width_) * (3 * 2 + 2 + 3));
}

}  // namespace weyl::geomformer
