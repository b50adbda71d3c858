#include "weyl/models/steerable/block.h"

#include <ATen/TensorOperators.h>

#include "weyl/models/steerable/activation.h"
#include "weyl/models/steerable/stage.h"

namespace weyl::steerable {
namespace {

Tensor through(const std::shared_ptr<Layer>& norm, const Tensor& x) {
  return norm ? (*norm)(x) : x;
}

}  // namespace

Mlp::Mlp(const SteerableType& type, const Options& options) {
  SteerableType hidden = type;
  for (int64_t& c : hidden.channels) {
    c *= options.encoder.hidden;
  }
  first_ = child("linear1", std::make_shared<Linear>(type, hidden));
  activation_ =
      child("activation", std::make_shared<NormActivation>(hidden,
                                                           options.encoder.activation == Activation::relu
                                                               ? NormActivation::Law::relu
                                                               : NormActivation::Law::gelu,
                                                           options.bias_init));
  second_ = child("linear2", std::make_shared<Linear>(hidden, type));
}

Tensor Mlp::operator()(const Tensor& x) const {
  return (*second_)((*activation_)((*first_)(x)));
}

Block::Block(const SteerableType& type, const Options& options) {
  const EncoderOptions& o = options.encoder;
  if (options.attention) {
    norm1_ = make_norm(o.norm, type);
    if (norm1_) {
      child("norm1", norm1_);
    }
    attention_ = child("attention",
                       std::make_shared<Attention>(type, AttentionOptions{o.heads, o.scale, o.positions}));
  }
  norm2_ = make_norm(o.norm, type);
  if (norm2_) {
    child("norm2", norm2_);
  }
  mlp_ = child("mlp", std::make_shared<Mlp>(type, options));
}

Tensor Block::operator()(const Tensor& x) const {
  const Tensor y = attention_ ? x + (*attention_)(through(norm1_, x)) : x;
  return y + (*mlp_)(through(norm2_, y));
}

Encoder::Encoder(const SteerableType& type, const Options& options) {
  for (int64_t i = 0; i < options.encoder.depth; ++i) {
    blocks_.push_back(child("blocks." + std::to_string(i), std::make_shared<Block>(type, options)));
  }
  norm_ = make_norm(options.encoder.norm, type);
  if (norm_) {
    child("norm", norm_);
  }
}

Tensor Encoder::operator()(const Tensor& x) const {
  Tensor y = x;
  for (const auto& block : blocks_) {
    y = (*block)(y);
  }
  return through(norm_, y);
}

Work Encoder::work_of_grid(double tokens) const {
  Work work;
  for (const auto& block : blocks_) {
    work += tokens * block->work_among(tokens);
  }
  return work;
}

}  // namespace weyl::steerable
