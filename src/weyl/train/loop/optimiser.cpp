#include "weyl/train/loop/optimiser.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_neg.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_foreach_sub.h>
#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/norm.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {
namespace {

// Name and tensor of one state entry, for saving and loading alike.
template <class Group, class F>
void for_each_state(Group& group, F&& f) {
  for (size_t i = 0; i < group.names.size(); ++i) {
    f("first." + group.names[i], group.first[i]);
    f("second." + group.names[i], group.second[i]);
    f("steps." + group.names[i], group.steps[i]);
  }
}

// Norms of the tensors in their own dtype, as torch has them; the sum of squares in float64.
Tensor norm_of(const std::vector<Tensor>& gradients) {
  return at::stack(at::_foreach_norm(gradients)).to(at::kDouble).square().sum().sqrt();
}

}  // namespace

Optimiser::Optimiser(const std::vector<Parameter>& parameters, const OptimiserOptions& options)
    : options_(options),
      device_(parameters.empty() ? at::Device(at::kCPU) : parameters.front().tensor.device()) {
  groups_[1].decay = options.weight_decay;
  groups_[1].scaled = options.name == OptimiserLaw::lamb;
  std::set<std::string> seen;
  for (const auto& p : parameters) {
    require(seen.insert(p.name).second, "Optimiser: parameter names must differ, got '", p.name, "' twice");
    if (!p.trainable || p.frozen) {
      continue;
    }
    require(p.tensor.scalar_type() == at::kFloat || p.tensor.scalar_type() == at::kDouble, "Optimiser: '",
            p.name, "' must be float32 or float64, got ", p.tensor.scalar_type());
    require(p.tensor.is_contiguous(), "Optimiser: '", p.name, "' must be contiguous, got strides ",
            p.tensor.strides());
    Group& group = groups_[p.decay || options.decaying == Decaying::all ? 1 : 0];
    group.names.push_back(p.name);
    group.weights.push_back(p.tensor);
    group.first.push_back(at::zeros_like(p.tensor).detach());
    group.second.push_back(at::zeros_like(p.tensor).detach());
    group.steps.push_back(at::zeros({}, p.tensor.options().dtype(at::kFloat)));
  }
}

std::vector<Tensor> Optimiser::gradients() const {
  std::vector<Tensor> gradients;
  for (const auto& group : groups_) {
    for (const auto& w : group.weights) {
      if (w.grad().defined()) {
        gradients.push_back(w.grad());
      }
    }
  }
  return gradients;
}

double Optimiser::clip_gradients() {
  const at::NoGradGuard no_grad;
  const std::vector<Tensor> all = gradients();
  if (all.empty()) {
    return 0;
  }
  const double norm = norm_of(all).item<double>();
  if (options_.clip && std::isfinite(norm)) {
    const double scale = *options_.clip / (norm + 1e-6);
    if (scale < 1) {
      at::_foreach_mul_(all, at::Scalar(scale));
    }
  }
  return norm;
}

Tensor Optimiser::clip_gradients_on_device() {
  const at::NoGradGuard no_grad;
  const std::vector<Tensor> all = gradients();
  if (all.empty()) {
    return at::zeros({}, at::TensorOptions(at::kDouble).device(device_));
  }
  const Tensor norm = norm_of(all);
  if (options_.clip) {
    const Tensor scale = (*options_.clip / (norm + 1e-6)).clamp_max(1);
    at::_foreach_mul_(all, scale.to(all.front().scalar_type()));
  }
  return norm;
}

void Optimiser::step(double factor, const Tensor& found_inf) {
  const at::NoGradGuard no_grad;
  const double rate = options_.rate * factor;
  for (auto& group : groups_) {
    Slice of;
    for (size_t i = 0; i < group.weights.size(); ++i) {
      const Tensor& gradient = group.weights[i].grad();
      if (!gradient.defined()) {
        continue;
      }
      of.weights.push_back(group.weights[i]);
      of.gradients.push_back(gradient.contiguous());
      of.first.push_back(group.first[i]);
      of.second.push_back(group.second[i]);
      of.steps.push_back(group.steps[i]);
    }
    if (of.weights.empty()) {
      continue;
    }
    if (found_inf.defined()) {
      at::_foreach_add_(of.steps, 1 - found_inf);
    } else {
      at::_foreach_add_(of.steps, at::Scalar(1));
    }
    // Without the host: the plain form asks for the number of steps.
    const Tensor& any = of.weights.front();
    const bool on_device = found_inf.defined() || (any.is_cuda() && !UseReferences::active());
    if (on_device && group.scaled) {
      step_lamb(of, rate, group.decay, found_inf);
    } else if (on_device ||
               (any.is_cpu() && options_.name != OptimiserLaw::lamb && !UseReferences::active())) {
      step_fused(of, rate, group.decay, found_inf);
    } else {
      for (size_t i = 0; i < of.weights.size(); ++i) {
        step_plain(of.weights[i], of.gradients[i], of.first[i], of.second[i], of.steps[i].item<double>(),
                   rate, group);
      }
    }
  }
}

void Optimiser::step_fused(const Slice& of, double rate, double decay, const Tensor& found_inf) const {
  const std::optional<Tensor> skip = found_inf.defined() ? std::optional(found_inf) : std::nullopt;
  if (options_.name == OptimiserLaw::adamw) {
    at::_fused_adamw_(of.weights, of.gradients, of.first, of.second, {}, of.steps, rate, options_.beta1,
                      options_.beta2, decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                      /*grad_scale=*/std::nullopt, skip);
  } else {
    at::_fused_adam_(of.weights, of.gradients, of.first, of.second, {}, of.steps, rate, options_.beta1,
                     options_.beta2, decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false,
                     /*grad_scale=*/std::nullopt, skip);
  }
}

// Adam's fused kernel takes zeros at rate 1 to minus its direction, and leaves them when it skips: then the step below is
// one of rate 0 along finite numbers.
void Optimiser::step_lamb(const Slice& of, double rate, double decay, const Tensor& found_inf) const {
  std::vector<Tensor> direction;
  for (const Tensor& w : of.weights) {
    direction.push_back(at::empty_like(w));
  }
  at::_foreach_zero_(direction);
  step_fused({direction, of.gradients, of.first, of.second, of.steps}, 1, 0, found_inf);
  at::_foreach_neg_(direction);
  at::_foreach_add_(direction, of.weights, decay);
  const Tensor of_weight = at::stack(at::_foreach_norm(of.weights)),
               of_direction = at::stack(at::_foreach_norm(direction));
  Tensor length = rate * at::where((of_weight > 0).logical_and(of_direction > 0), of_weight / of_direction,
                                   at::ones_like(of_weight));
  if (found_inf.defined()) {
    length = length * (1 - found_inf);
  }
  at::_foreach_mul_(direction, length.unbind());
  at::_foreach_sub_(of.weights, direction);
}

void Optimiser::step_plain(const Tensor& weight, const Tensor& gradient, const Tensor& first,
                           const Tensor& second, double step, double rate, const Group& group) const {
  const double decay = group.decay;
  Tensor g = gradient;
  if (decay != 0 && options_.name == OptimiserLaw::adamw) {
    weight.mul_(1 - rate * decay);
  } else if (decay != 0 && options_.name == OptimiserLaw::adam) {
    g = g + decay * weight;
  }
  first.mul_(options_.beta1).add_(g, 1 - options_.beta1);
  second.mul_(options_.beta2).addcmul_(g, g, 1 - options_.beta2);
  const double correction1 = 1 - std::pow(options_.beta1, step);
  const double correction2 = 1 - std::pow(options_.beta2, step);
  const Tensor root = second.div(correction2).sqrt_().add_(options_.epsilon);
  if (!group.scaled) {
    weight.addcdiv_(first, root, -rate / correction1);
    return;
  }
  const Tensor direction = (first / correction1).div_(root).add_(weight, decay);
  const Tensor of_weight = weight.norm(), of_direction = direction.norm();
  const Tensor quotient = at::where((of_weight > 0).logical_and(of_direction > 0), of_weight / of_direction,
                                    at::ones_like(of_weight));
  weight.sub_(direction.mul_(quotient), rate);
}

void Optimiser::clear_gradients() {
  for (auto& group : groups_) {
    for (auto& w : group.weights) {
      w.mutable_grad().reset();
    }
  }
}

NamedTensors Optimiser::state() const {
  NamedTensors state;
  for (const auto& group : groups_) {
    for_each_state(group, [&](const std::string& name, const Tensor& t) {
      state[name] = t.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
    });
  }
  return state;
}

void Optimiser::load(const NamedTensors& state, const std::string& where) {
  const at::NoGradGuard no_grad;
  size_t known = 0;
  for (auto& group : groups_) {
    for_each_state(group, [&](const std::string& name, const Tensor& t) {
      const auto found = state.find(name);
      require<DataError>(found != state.end(), where, ": optimiser state must hold '", name,
                         "', which is missing");
      require<DataError>(found->second.sizes() == t.sizes() && found->second.scalar_type() == t.scalar_type(),
                         where, ": optimiser state '", name, "' must be ", t.scalar_type(), " ", t.sizes(),
                         ", got ", found->second.scalar_type(), " ", found->second.sizes());
      ++known;
    });
  }
  if (known != state.size()) {
    std::set<std::string> names;
    for (auto& group : groups_) {
      for_each_state(group, [&](const std::string& name, const Tensor&) { names.insert(name); });
    }
    for (const auto& [name, t] : state) {
      require<DataError>(names.contains(name), where, ": optimiser state has an unexpected tensor '", name,
                         "'");
    }
  }
  for (auto& group : groups_) {
    for_each_state(group, [&](const std::string& name, const Tensor& t) { t.copy_(state.at(name)); });
  }
}

}  // namespace weyl
