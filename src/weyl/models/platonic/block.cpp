#include "weyl/models/platonic/block.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/dropout.h>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/frame_norm.h"

namespace weyl::platonic {

FrameBlock::FrameBlock(const Options& options, const GroupTablesPtr& tables)
    : options_(options), order_(tables->group().order()) {
  const int64_t channels = options.width / order_;
  const auto hidden = static_cast<int64_t>(static_cast<double>(options.width) * options.ffn_factor);
  require<ConfigError>(hidden > 0 && hidden % order_ == 0,
                       "model.platonic.ffn_factor: width times factor must be a ",
                       "positive multiple of the order ", order_, ", got ", hidden);
  // Over two channels a layer norm is a sign function: it loses digits of float32, and with them the
  // symmetry.
  require<ConfigError>(options.norm == FrameNorm::rms || channels >= 3,
                       "model.platonic.width: a layer norm needs at least "
                       "3 channels in a frame, got ",
                       options.width, " / ", order_, " = ", channels);
  if (options.layer_scale) {
    gamma_1_ = parameter("gamma_1", {channels}, Init::constant(*options.layer_scale));
    gamma_2_ = parameter("gamma_2", {channels}, Init::constant(*options.layer_scale));
  }
  attention_ = child("interaction", std::make_shared<FrameAttention>(options, tables));
  linear_1_ = child("linear1", std::make_shared<GroupLinear>(tables, options.width, hidden, options.linear));
  linear_2_ = child("linear2", std::make_shared<GroupLinear>(tables, hidden, options.width, options.linear));
  const auto norm = [&](const char* name) -> std::shared_ptr<Norm> {
    if (options.norm == FrameNorm::layer) {
      return child(name, std::make_shared<LayerNorm>(channels));
    }
    return child(name, std::make_shared<RmsNorm>(channels));
  };
  norm_1_ = norm("norm1");
  norm_2_ = norm("norm2");
}

Tensor FrameBlock::normalised(const Norm& norm, const Tensor& x) const {
  const int64_t n = x.size(0);
  return norm(x.view({n, order_, options_.width / order_})).view({n, options_.width});
}

Tensor FrameBlock::residual(const Tensor& x, const Tensor& branch, const Tensor& gamma,
                            const FrameInput& input) const {
  Tensor y = branch;
  if (training() && options_.dropout > 0) {
    y = at::dropout(y, options_.dropout, /*train=*/true);
  }
  if (gamma.defined()) {
    y = (y.view({y.size(0), order_, options_.width / order_}) * gamma).view({y.size(0), options_.width});
  }
  if (training()) {
    y = drop_path(y, input.graphs, options_.drop_path, options_.drop_path_by);
  }
  return x + y;
}

/// The fused ops know neither dropout, drop path, layer scale, norms elsewhere, other norms or activations, nor autocast; the
/// plain composition is their reference.
bool FrameBlock::fuses(const Tensor& x) const {
  const bool random = training() && (options_.dropout > 0 || options_.drop_path > 0);
  return !UseReferences::active() && !random && !gamma_1_.defined() && options_.norm == FrameNorm::layer &&
         options_.norm_place == NormPlace::before && options_.activation == Activation::gelu &&
         !at::autocast::is_autocast_enabled(x.device().type());
}

Tensor FrameBlock::fused(const Tensor& x, const FrameInput& input) const {
  const auto& first = static_cast<const LayerNorm&>(*norm_1_);
  const auto& second = static_cast<const LayerNorm&>(*norm_2_);
  const Tensor mixed =
      attention_->without_bias(frame_layer_norm(x, first.weight(), first.bias(), first.epsilon()), input);
  const auto [sum, normed] = add_branch_and_norm(x, mixed, attention_->output_bias(), second.weight(),
                                                 second.bias(), second.epsilon());
  const Tensor hidden = bias_gelu(linear_1_->without_bias(normed), linear_1_->bias());
  return add_branch(sum, linear_2_->without_bias(hidden), linear_2_->bias());
}

Tensor FrameBlock::operator()(const Tensor& x, const FrameInput& input) const {
  if (fuses(x)) {
    return fused(x, input);
  }
  const bool before = options_.norm_place == NormPlace::before;
  const auto normed = [&](const std::shared_ptr<Norm>& norm, const Tensor& y, bool here) {
    return here ? normalised(*norm, y) : y;
  };
  const Tensor attended = residual(x, (*attention_)(normed(norm_1_, x, before), input), gamma_1_, input);
  const Tensor mixed = normed(norm_1_, attended, !before);
  Tensor hidden = activate((*linear_1_)(normed(norm_2_, mixed, before)), options_.activation);
  if (training() && options_.dropout > 0) {
    hidden = at::dropout(hidden, options_.dropout, /*train=*/true);
  }
  return normed(norm_2_, residual(mixed, (*linear_2_)(hidden), gamma_2_, input), !before);
}

Work FrameBlock::work(double graph_nodes, LinearForm form) const {
  return attention_->work(graph_nodes, form) + linear_1_->work(form) + linear_2_->work(form);
}

}  // namespace weyl::platonic
