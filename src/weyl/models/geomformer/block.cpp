#include "weyl/models/geomformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/sqrt.h>

#include "weyl/core/check.h"
#include "weyl/nn/drop_path.h"
#include "weyl/ops/vectors/vector_norm.h"

namespace weyl::geomformer {

VectorNorm::VectorNorm(int64_t channels, VectorNormLaw law, double rho, double epsilon)
    : rho_(law == VectorNormLaw::rms ? 1 : rho),
      epsilon_(epsilon),
      weight_(parameter("weight", {channels}, Init::ones())) {
  require<ConfigError>(law != VectorNormLaw::none, "model.geomformer.norm: none is no norm");
}

Tensor VectorNorm::operator()(const Tensor& z) const {
  return vector_norm(z, weight_, rho_, epsilon_);
}

Tensor drop_vectors(const Tensor& x, double rate) {
  return rate > 0 ? x * at::dropout(x.new_ones({x.size(0), 1, x.size(2)}), rate, /*train=*/true) : x;
}

GatedFeedForward::GatedFeedForward(const Options& o)
    : activation_(o.activation), dropout_(o.dropout.activation) {
  const int64_t d = o.width, r = o.hidden.value_or(o.width);
  const auto map = [&](const char* name, int64_t in, int64_t out) {
    return child(name, std::make_shared<Linear>(in, out, /*bias=*/false, o.init));
  };
  if (o.parts.inv_ffn || o.parts.equ_ffn) {
    inv_in_ = map("inv_in", d, (o.parts.inv_ffn + o.parts.equ_ffn) * r);
  }
  if (o.parts.inv_ffn) {
    inv_out_ = map("inv_out", r, d);
    inv_out_->scale_init(residual_init(o));
  }
  if (o.parts.equ_ffn) {
    equ_in_ = map("equ_in", d, r);
    equ_out_ = map("equ_out", r, d);
    equ_out_->scale_init(residual_init(o));
  }
}

StreamAttention::Streams GatedFeedForward::operator()(const Tensor& i, const Tensor& e) const {
  if (!inv_in_) {
    return {};
  }
  const double rate = training() ? dropout_ : 0;
  Tensor hidden = activate((*inv_in_)(i), activation_);
  hidden = rate > 0 ? at::dropout(hidden, rate, /*train=*/true) : hidden;
  const Tensors parts = inv_out_ && equ_out_ ? hidden.chunk(2, -1) : Tensors{hidden};
  StreamAttention::Streams add;
  if (inv_out_) {
    add.inv = (*inv_out_)(parts.front());
  }
  if (equ_out_) {
    add.equ = (*equ_out_)((*equ_in_)(e)*parts.back().unsqueeze(1));
  }
  return add;
}

Work GatedFeedForward::work() const {
  Work work;
  for (const auto& [map, axes] : {std::pair(inv_in_, 1), {inv_out_, 1}, {equ_in_, 3}, {equ_out_, 3}}) {
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

using Streams = StreamAttention::Streams;

Streams Block::Norms::operator()(const Streams& streams) const {
  return {inv ? (*inv)(streams.inv) : streams.inv, equ ? (*equ)(streams.equ) : streams.equ};
}

Block::Norms Block::norms(const char* suffix, bool inv_read, bool equ_read) {
  Norms found;
  if (inv_read && options_.parts.inv_norm) {
    found.inv = child(std::string("inv_norm") + suffix, std::make_shared<LayerNorm>(options_.width));
  }
  if (equ_read && options_.parts.equ_norm && options_.norm != VectorNormLaw::none) {
    found.equ = child(
        std::string("equ_norm") + suffix,
        std::make_shared<VectorNorm>(options_.width, options_.norm, options_.rho, options_.norm_epsilon));
  }
  return found;
}

Block::Block(const Options& options) : options_(options) {
  const Parts& parts = options.parts;
  const bool sent = sends_messages(options.interaction);
  const bool vectors = sent && messages_of(options).vectors;
  before_ = norms("", sent || parts.inv_self || parts.inv_cross || parts.equ_cross,
                  vectors || parts.inv_cross || parts.equ_self || parts.equ_cross);
  if (sent) {
    messages_ = child("messages", std::make_shared<FilteredMessages>(options));
  }
  if (attends(options.interaction)) {
    attention_ = child("attention", std::make_shared<StreamAttention>(options));
    const auto bias = [&](const std::string& name) {
      return child(name, std::make_shared<StructuralBias>(options.kernels, options.heads, options.bias_heads,
                                                          options.init));
    };
    if (options.bias == BiasScope::layer) {
      bias_.fill(bias("bias"));
    } else if (options.bias == BiasScope::module) {
      const char* names[] = {"bias_inv_self", "bias_inv_cross", "bias_equ_self", "bias_equ_cross"};
      for (size_t part = 0; part < bias_.size(); ++part) {
        bias_[part] = attention_->attentions()[part] ? bias(names[part]) : nullptr;
      }
    }
  }
  if (options.feed_forward == FeedForward::none) {
    return;
  }
  if (options.feed_forward == FeedForward::gated) {
    between_ = norms("_2", parts.inv_ffn || parts.equ_ffn, parts.equ_ffn);
    gated_ = child("ffn", std::make_shared<GatedFeedForward>(options));
  } else {
    between_ = norms("_2", true, true);
    mixing_ = child("mixing", std::make_shared<StreamMixing>(options));
  }
}

Streams Block::sum(const Streams& streams, const Streams& add, const Segments& graphs) const {
  const double rate = training() ? options_.dropout.hidden : 0, skip = training() ? options_.dropout.path : 0;
  Streams result = streams;
  if (add.inv.defined()) {
    const Tensor y = rate > 0 ? at::dropout(add.inv, rate, /*train=*/true) : add.inv;
    result.inv = result.inv + drop_path(y, graphs, skip, DropPathBy::graph);
  }
  if (add.equ.defined()) {
    result.equ = result.equ + drop_path(drop_vectors(add.equ, rate), graphs, skip, DropPathBy::graph);
  }
  return result;
}

Streams Block::operator()(Streams streams, const Streams& read, const Tensor& joined, const Segments& graphs,
                          const Neighbourhood& near, const Tensor& shared_bias) const {
  if (messages_) {
    streams = sum(streams, (*messages_)(read.inv, read.equ, near), graphs);
  }
  if (attention_) {
    StreamAttention::Biases bias{shared_bias, shared_bias, shared_bias, shared_bias};
    for (size_t part = 0; part < bias_.size(); ++part) {
      if (bias_[part]) {
        const bool again = part > 0 && bias_[part] == bias_[0];
        bias[part] = again ? bias[0] : (*bias_[part])(near);
        bias[part] = again || !shared_bias.defined() ? bias[part] : bias[part] + shared_bias;
      }
    }
    const bool parallel = options_.order == Order::parallel;
    const auto all = attention_->attentions();
    const std::array<bool, 4> self{all[0], false, all[2], false}, cross{false, all[1], false, all[3]};
    const auto attended = [&](const Streams& x, const std::array<bool, 4>& parts) {
      return sum(streams, (*attention_)(x.inv, x.equ, joined, graphs, near, bias, parts), graphs);
    };
    streams = attended(read, parallel ? all : self);
    if (!parallel) {
      streams = attended(before_(streams), cross);
    }
  }
  if (!gated_ && !mixing_) {
    return streams;
  }
  const Streams x = between_(streams);
  return sum(streams, gated_ ? (*gated_)(x.inv, x.equ) : (*mixing_)(x.inv, x.equ), graphs);
}

Work Block::work(const Around& around, bool equ_learns) const {
  const bool learns = equ_learns || before_.equ;  // a norm has weights
  Work work;
  if (messages_) {
    work += messages_->work(around, learns);
  }
  if (attention_) {
    work += attention_->work(around, learns, options_.order == Order::parallel ? 1 : 2);
  }
  return work + (gated_ ? gated_->work() : mixing_ ? mixing_->work() : Work());
}

Work Block::work_of_bias(const Around& around) const {
  Work work;
  for (size_t part = 0; part < bias_.size(); ++part) {
    const bool again = part > 0 && bias_[part] == bias_[0];  // one for the layer
    work += bias_[part] && !again ? bias_[part]->work(around) : Work();
  }
  return work;
}

}  // namespace weyl::geomformer
