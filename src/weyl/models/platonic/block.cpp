#include "weyl/models/platonic/block.h"

#include <ATen/autocast_mode.h>

#include <utility>

#include "weyl/core/check.h"
#include "weyl/nn/activation_law.h"
#include "weyl/nn/drop_path.h"
#include "weyl/nn/dropout.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/full_precision.h"
#include "weyl/ops/frames/bias_activation.h"
#include "weyl/ops/frames/group_fourier.h"

namespace weyl::platonic {

FrameBlock::FrameBlock(const Options& options, const GroupTablesPtr& tables)
    : options_(options), tables_(tables), order_(tables->group().order()) {
  const int64_t channels = options.width / order_;
  hidden_ = static_cast<int64_t>(static_cast<double>(options.width) * options.ffn_factor);
  require<ConfigError>(hidden_ > 0 && hidden_ % order_ == 0,
                       "model.platonic.ffn_factor: width times factor must be a ",
                       "positive multiple of the order ", order_, ", got ", hidden_);
  // Over two channels a layer norm is a sign function: it loses digits of float32, and with them the
  // symmetry.
  require<ConfigError>(options.norm == FrameNorm::rms || channels >= 3,
                       "model.platonic.width: a layer norm needs at least 3 channels in a frame, got ",
                       options.width, " / ", order_, " = ", channels);
  if (options.layer_scale) {
    gamma_1_ = parameter("gamma_1", {channels}, Init::constant(*options.layer_scale));
    gamma_2_ = parameter("gamma_2", {channels}, Init::constant(*options.layer_scale));
  }
  attention_ = child("interaction", std::make_shared<FrameAttention>(options, tables));
  linear_1_ = child("linear1", std::make_shared<GroupLinear>(tables, options.width, hidden_, options.linear));
  linear_2_ = child("linear2", std::make_shared<GroupLinear>(tables, hidden_, options.width, options.linear));
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

BranchFactors FrameBlock::factors(const Tensor& gamma, const Tensor& x, const FrameInput& input) const {
  BranchFactors result{gamma, {}, {}};
  if (training()) {
    result.noise = dropout_noise(x.sizes(), options_.dropout, x.options().requires_grad(false));
    result.rows = drop_path_factors(x, input.graphs, options_.drop_path, options_.drop_path_by);
  }
  return result;
}

Tensor FrameBlock::hidden_noise(const Tensor& x) const {
  return training() ? dropout_noise({x.size(0), hidden_}, options_.dropout, x.options().requires_grad(false))
                    : Tensor();
}

Tensor FrameBlock::residual(const Tensor& x, const Tensor& branch, const BranchFactors& factors) const {
  Tensor y = factors.noise.defined() ? branch * factors.noise : branch;
  if (factors.scale.defined()) {
    y = (y.view({y.size(0), order_, options_.width / order_}) * factors.scale).view(y.sizes());
  }
  return x + (factors.rows.defined() ? y * factors.rows.unsqueeze(1) : y);
}

Tensor FrameBlock::composed(const Tensor& x, const FrameInput& input) const {
  const bool before = options_.norm_place == NormPlace::before;
  const auto normed = [&](const std::shared_ptr<Norm>& norm, const Tensor& y, bool here) {
    return here ? normalised(*norm, y) : y;
  };
  const Tensor attended = (*attention_)(normed(norm_1_, x, before), input);
  const Tensor mixed = normed(norm_1_, residual(x, attended, factors(gamma_1_, x, input)), !before);
  Tensor hidden = activate((*linear_1_)(normed(norm_2_, mixed, before)), options_.activation);
  if (const Tensor noise = hidden_noise(x); noise.defined()) {
    hidden = hidden * noise;
  }
  const Tensor branch = (*linear_2_)(hidden);
  return normed(norm_2_, residual(mixed, branch, factors(gamma_2_, x, input)), !before);
}

Tensor FrameBlock::by_rows(const Tensor& x, const FrameInput& input) const {
  const bool before = options_.norm_place == NormPlace::before;
  const Tensor first = before ? frame_norm(x, norm_1_->law()) : x;
  const Tensor attended = widened(attention_->products({first}, input).front());
  const auto [sum, normed] =
      add_branch_and_norm(x, attended, attention_->output_bias(), (before ? norm_2_ : norm_1_)->law(),
                          factors(gamma_1_, x, input));
  const Tensor inner = bias_activation(widened(linear_1_->products({normed}).front()), linear_1_->bias(),
                                       law_of(options_.activation), hidden_noise(x));
  const Tensor branch = widened(linear_2_->products({inner}).front());
  const BranchFactors last = factors(gamma_2_, x, input);
  return before ? add_branch(sum, branch, linear_2_->bias(), last)
                : add_branch_and_norm(normed, branch, linear_2_->bias(), norm_2_->law(), last).normed;
}

Tensor FrameBlock::by_planes(const Tensor& x, const FrameInput& input) const {
  const bool before = options_.norm_place == NormPlace::before;
  const auto first = before ? frame_norm_planes(x, norm_1_->law(), *tables_) : linear_1_->function_of(x);
  const auto attended = all_widened(attention_->products(first, input));
  const BranchFactors of_attention = factors(gamma_1_, x, input);
  Tensor stream;
  std::vector<Tensor> normed;
  if (before) {
    auto both = add_branch_and_norm_planes(x, attended, *tables_, attention_->output_bias(), norm_2_->law(),
                                           of_attention);
    stream = both.sum;
    normed = std::move(both.normed);
  } else {
    stream = frame_norm(add_branch_planes(x, attended, *tables_, attention_->output_bias(), of_attention),
                        norm_1_->law());
    normed = linear_1_->function_of(stream);
  }
  const auto inner = bias_activation(all_widened(linear_1_->products(normed)), *tables_, linear_1_->bias(),
                                     law_of(options_.activation), hidden_noise(x));
  const Tensor sum = add_branch_planes(stream, all_widened(linear_2_->products(inner)), *tables_,
                                       linear_2_->bias(), factors(gamma_2_, x, input));
  return before ? sum : frame_norm(sum, norm_2_->law());
}

Tensor FrameBlock::operator()(const Tensor& x, const FrameInput& input) const {
  // On a GPU autocast keeps the stream below float32, which the ops of more than one step do not take.
  if (UseReferences::active() || (at::autocast::is_autocast_enabled(x.device().type()) && !x.is_cpu())) {
    return composed(x, input);
  }
  const Tensor stream = widened(x);
  return linear_1_->by_irreps() ? by_planes(stream, input) : by_rows(stream, input);
}

Work FrameBlock::work(double graph_nodes, LinearForm form) const {
  return attention_->work(graph_nodes, form) + linear_1_->work(form) + linear_2_->work(form);
}

}  // namespace weyl::platonic
