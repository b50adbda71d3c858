#include "weyl/models/geomformer/block.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/dropout.h>

#include "weyl/nn/drop_path.h"

namespace weyl::geomformer {

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
  if (options.interaction == Interaction::attention) {
    before_ = norms("", parts.inv_self || parts.inv_cross || parts.equ_cross,
                    parts.inv_cross || parts.equ_self || parts.equ_cross);
    attention_ = child("attention", std::make_shared<StreamAttention>(options));
    const auto bias = [&](const std::string& name) {
      return child(name,
                   std::make_shared<StructuralBias>(options.kernels, options.heads, options.bias_heads));
    };
    if (options.bias == BiasScope::layer) {
      bias_.fill(bias("bias"));
    } else if (options.bias == BiasScope::module) {
      const char* names[] = {"bias_inv_self", "bias_inv_cross", "bias_equ_self", "bias_equ_cross"};
      for (size_t part = 0; part < bias_.size(); ++part) {
        bias_[part] = attention_->parts()[part] ? bias(names[part]) : nullptr;
      }
    }
  } else {
    before_ = norms("", true, true);
    messages_ = child("messages", std::make_shared<FilteredMessages>(options));
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

Streams Block::operator()(Streams streams, const Segments& graphs, const Neighbourhood& near,
                          const Tensor& shared_bias) const {
  if (messages_) {
    const Streams x = before_(streams);
    streams = sum(streams, (*messages_)(x.inv, x.equ, near), graphs);
  } else {
    StreamAttention::Biases bias{shared_bias, shared_bias, shared_bias, shared_bias};
    for (size_t part = 0; part < bias_.size(); ++part) {
      if (bias_[part]) {
        bias[part] = part > 0 && bias_[part] == bias_[0] ? bias[0] : (*bias_[part])(near);
      }
    }
    const bool parallel = options_.order == Order::parallel;
    const auto all = attention_->parts();
    const std::array<bool, 4> self{all[0], false, all[2], false}, cross{false, all[1], false, all[3]};
    const Streams x = before_(streams);
    streams = sum(streams, (*attention_)(x.inv, x.equ, graphs, near, bias, parallel ? all : self), graphs);
    if (!parallel) {
      const Streams y = before_(streams);
      streams = sum(streams, (*attention_)(y.inv, y.equ, graphs, near, bias, cross), graphs);
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
    work = messages_->work(around, learns);
  } else {
    work = attention_->work(around, learns, options_.order == Order::parallel ? 1 : 2);
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
