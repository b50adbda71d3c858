#include "weyl/train/optimiser.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
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

}  // namespace

Optimiser::Optimiser(const std::vector<Parameter>& parameters, const OptimiserOptions& options)
    : options_(options) {
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

double Optimiser::clip_gradients() {
  const at::NoGradGuard no_grad;
  std::vector<Tensor> gradients;
  for (const auto& group : groups_) {
    for (const auto& w : group.weights) {
      if (w.grad().defined()) {
        gradients.push_back(w.grad());
      }
    }
  }
  if (gradients.empty()) {
    return 0;
  }
  // Norms of the tensors in their own dtype, as torch has them; the sum of squares in float64.
  const double norm =
      at::stack(at::_foreach_norm(gradients)).to(at::kDouble).square().sum().sqrt().item<double>();
  if (options_.clip && std::isfinite(norm)) {
    const double scale = *options_.clip / (norm + 1e-6);
    if (scale < 1) {
      at::_foreach_mul_(gradients, at::Scalar(scale));
    }
  }
  return norm;
}

void Optimiser::step(double factor) {
  const at::NoGradGuard no_grad;
  const double rate = options_.rate * factor;
  for (auto& group : groups_) {
    std::vector<Tensor> weights, gradients, first, second, steps;
    for (size_t i = 0; i < group.weights.size(); ++i) {
      const Tensor& gradient = group.weights[i].grad();
      if (!gradient.defined()) {
        continue;
      }
      weights.push_back(group.weights[i]);
      gradients.push_back(gradient.contiguous());
      first.push_back(group.first[i]);
      second.push_back(group.second[i]);
      steps.push_back(group.steps[i]);
    }
    if (weights.empty()) {
      continue;
    }
    at::_foreach_add_(steps, at::Scalar(1));
    if (is_fused(weights.front())) {
      step_fused(weights, gradients, first, second, steps, rate, group.decay);
    } else {
      for (size_t i = 0; i < weights.size(); ++i) {
        step_plain(weights[i], gradients[i], first[i], second[i], steps[i].item<double>(), rate, group);
      }
    }
  }
}

bool Optimiser::is_fused(const Tensor& weight) const {
  return options_.name != OptimiserLaw::lamb && (weight.is_cpu() || weight.is_cuda()) &&
         !UseReferences::active();
}

void Optimiser::step_fused(const std::vector<Tensor>& weights, const std::vector<Tensor>& gradients,
                           const std::vector<Tensor>& first, const std::vector<Tensor>& second,
                           const std::vector<Tensor>& steps, double rate, double decay) const {
  if (options_.name == OptimiserLaw::adamw) {
    at::_fused_adamw_(weights, gradients, first, second, {}, steps, rate, options_.beta1, options_.beta2,
                      decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  } else {
    at::_fused_adam_(weights, gradients, first, second, {}, steps, rate, options_.beta1, options_.beta2,
                     decay, options_.epsilon, /*amsgrad=*/false, /*maximize=*/false);
  }
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
      require<DataError>(names.count(name) > 0, where, ": optimiser state has an unexpected tensor '", name,
                         "'");
    }
  }
  for (auto& group : groups_) {
    for_each_state(group, [&](const std::string& name, const Tensor& t) { t.copy_(state.at(name)); });
  }
}

}  // namespace weyl
