#include "weyl/models/steerable/encoder.h"

#include <ATen/TensorOperators.h>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/models/steerable/layers.h"
#include "weyl/models/steerable/stage.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/steerable/attention.h"

namespace weyl::steerable {
namespace {

constexpr size_t grids_kept = 16;  // tables of grids that a module remembers

double scale_of(const SteerableType& type, const AttentionOptions& options) {
  if (options.scale == ScoreScale::full) {
    return 1 / std::sqrt(static_cast<double>(type.width()));
  }
  const auto channels = type.multiplicity();
  return 1 / std::sqrt(static_cast<double>(channels) / static_cast<double>(type.irreps() * options.heads));
}

}  // namespace

Attention::Attention(const SteerableType& type, const AttentionOptions& options) : options_(options) {
  require(options.heads > 0 && type.irreps() > 0, "SteerableAttention: needs heads and irreps, got ",
          options.heads, " and ", type.irreps());
  for (int64_t l = 0; l < type.irreps(); ++l) {
    require(type.channels[l] > 0 && type.channels[l] % options.heads == 0,
            "SteerableAttention: ", options.heads, " heads must divide the channels of irrep ", l, ", got ",
            type.channels[l]);
  }
  scale_ = scale_of(type, options);
  query_ = child("query", std::make_shared<Linear>(type, type));
  key_ = child("key", std::make_shared<Linear>(type, type));
  value_ = child("value", std::make_shared<Linear>(type, type));
  output_ = child("output", std::make_shared<Linear>(type, type));
  if (options.positions.radial != RadialLaw::none) {
    const std::vector<int64_t> shape{position_radii(type.dimension, options.positions), type.multiplicity(),
                                     2};
    key_positions_ = complex_parameter("key_positions", initial_normals(shape) * std::sqrt(0.5));
    value_positions_ = complex_parameter("value_positions", initial_normals(shape) * std::sqrt(0.5));
  }
}

std::shared_ptr<const Positions> Attention::positions(const std::vector<int64_t>& grid) const {
  if (options_.positions.radial == RadialLaw::none) {
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  auto& found = of_grids_[grid];
  if (!found) {
    const auto made = std::make_shared<Positions>(type(), grid, options_.positions);
    if (of_grids_.size() > grids_kept) {
      of_grids_.clear();
    }
    of_grids_[grid] = made;
    return made;
  }
  return found;
}

Tensors Attention::inputs(const Tensor& x) const {
  const int64_t dimension = type().dimension;
  require(x.defined() && x.dim() == dimension + 2 && x.size(1) == 2 * type().width(),
          "SteerableAttention: x must be (B, ", 2 * type().width(), ", ", dimension, " axes), got ",
          x.defined() ? x.sizes() : at::IntArrayRef{});
  const Tensor tokens = x.flatten(2);
  const at::ScalarType type_of_scores = at_least_float32(x.scalar_type());
  const auto weights = [&](const Tensor& w) {  // constants where those of the linear layers are
    return w.defined() ? (follows_weights(training(), w) ? w : w.detach()).to(type_of_scores) : w;
  };
  return {(*query_)(tokens).to(type_of_scores), (*key_)(tokens).to(type_of_scores),
          (*value_)(tokens).to(type_of_scores), weights(key_positions_), weights(value_positions_)};
}

Tensor Attention::operator()(const Tensor& x, const Tensor& taking_part) const {
  const Tensors in = inputs(x);
  Tensor y;
  {
    const FullPrecision no_autocast;  // complex numbers have no half precision
    y = attention(in[0], in[1], in[2], type(), options_.heads, scale_, positions(x.sizes().slice(2).vec()),
                  in[3], in[4], taking_part.defined() ? taking_part.flatten(1) : taking_part);
  }
  return (*output_)(y).view(x.sizes());
}

Tensor Attention::weights(const Tensor& x, const Tensor& taking_part) const {
  const Tensors in = inputs(x);
  const FullPrecision no_autocast;
  return attention_weights(in, Heads(type(), options_.heads), scale_,
                           positions(x.sizes().slice(2).vec()).get(),
                           taking_part.defined() ? taking_part.flatten(1) : taking_part);
}

Work Attention::work(double tokens) const {
  const auto width = static_cast<double>(type().width());
  // Scores are of complex numbers, their weights real.
  Work work = 4 * query_->work() + Work::product(4 * tokens * width) + Work::product(2 * tokens * width);
  const auto radii = static_cast<double>(position_radii(type().dimension, options_.positions));
  if (radii > 0) {
    int64_t components = 0;
    for (int64_t l = 0; l < type().irreps(); ++l) {
      components += type().components(l);
    }
    // Positional vectors are constants: scores with queries and their weights, sums by the weights of scores.
    const auto vectors = static_cast<double>(options_.heads * components);
    work += Work::product(8 * width * radii) + Work::product((4 + 2) * tokens * vectors, 1);
  }
  return work;
}

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

Tensor Block::operator()(const Tensor& x, const Tensor& taking_part) const {
  const Tensor y = attention_ ? x + (*attention_)(through(norm1_, x), taking_part) : x;
  return y + (*mlp_)(through(norm2_, y));
}

Tensor Block::weights(const Tensor& x, const Tensor& taking_part) const {
  return attention_ ? attention_->weights(through(norm1_, x), taking_part) : Tensor();
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

Tensor Encoder::operator()(const Tensor& x, const Tensor& taking_part) const {
  Tensor y = x;
  for (const auto& block : blocks_) {
    y = (*block)(y, taking_part);
  }
  return through(norm_, y);
}

std::vector<Tensor> Encoder::attention_maps(const Tensor& x, const Tensor& taking_part) const {
  std::vector<Tensor> maps;
  Tensor y = x;
  for (const auto& block : blocks_) {
    if (const Tensor weights = block->weights(y, taking_part); weights.defined()) {
      std::vector<int64_t> shape = x.sizes().vec();
      shape[1] = weights.size(1);
      maps.push_back(weights.amax(-1).view(shape));
    }
    y = (*block)(y, taking_part);
  }
  return maps;
}

Work Encoder::work_of_grid(double tokens) const {
  Work work;
  for (const auto& block : blocks_) {
    work += tokens * block->work_among(tokens);
  }
  return work;
}

}  // namespace weyl::steerable
