#include "weyl/train/loop/average.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/scalar_tensor.h>
#include <algorithm>

#include "weyl/core/check.h"

namespace weyl {

Average::Average(const std::vector<Parameter>& parameters, double decay, bool warmup)
    : decay_(decay), warmup_(warmup) {
  require<ConfigError>(decay >= 0 && decay < 1, "train.average: must be at least 0 and below 1, got ", decay);
  for (const auto& p : parameters) {
    names_.push_back(p.name);
    trainable_.push_back(p.trainable);
    weights_.push_back(p.tensor);
    averages_.push_back(p.tensor.detach().clone());
    if (!p.frozen) {
      moving_.push_back(names_.size() - 1);
    }
  }
}

void Average::update(const NamedTensors& as_they_were) {
  require(!swapped_, "Average::update: weights must be in their place, got averages");
  if (moving_.empty()) {
    return;
  }
  const at::NoGradGuard no_grad;
  const double t = static_cast<double>(updates_++);
  const double d = warmup_ ? std::min(decay_, 1 - 1 / (t + 1)) : decay_;
  std::vector<Tensor> averages, weights;  // tensors change places in `swap`
  for (const size_t i : moving_) {
    const auto found = as_they_were.find(names_[i]);
    averages.push_back(averages_[i]);
    weights.push_back(found == as_they_were.end() ? weights_[i] : found->second);
  }
  at::_foreach_lerp_(averages, weights, at::Scalar(1 - d));
}

void Average::swap() {
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < weights_.size(); ++i) {
    const Tensor weights = weights_[i].variable_data();
    weights_[i].set_data(averages_[i]);
    averages_[i] = weights;
  }
  swapped_ = !swapped_;
}

NamedTensors Average::named(const std::vector<Tensor>& tensors) const {
  NamedTensors by_name;
  for (size_t i = 0; i < names_.size(); ++i) {
    by_name[names_[i]] = tensors[i].detach();
  }
  return by_name;
}

NamedTensors Average::averages() const {
  return named(swapped_ ? weights_ : averages_);
}

NamedTensors Average::weights() const {
  return named(swapped_ ? averages_ : weights_);
}

NamedTensors Average::state() const {
  NamedTensors state;
  for (const auto& [name, average] : averages()) {
    state["weights." + name] = average.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  }
  state["updates"] = at::scalar_tensor(updates_, at::TensorOptions(at::kLong));
  return state;
}

void Average::load(const NamedTensors& state, const std::string& where) {
  require(!swapped_, "Average::load: weights must be in their place, got averages");
  const auto updates = state.find("updates");
  require<DataError>(
      updates != state.end() && updates->second.numel() == 1 && updates->second.scalar_type() == at::kLong,
      where, ": average state must hold 'updates', one int64");
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto found = state.find("weights." + names_[i]);
    if (found == state.end() && !trainable_[i]) {
      continue;  // of a file from before they were averaged
    }
    require<DataError>(found != state.end(), where, ": average state must hold 'weights.", names_[i],
                       "', which is missing");
    require<DataError>(found->second.sizes() == averages_[i].sizes() &&
                           found->second.scalar_type() == averages_[i].scalar_type(),
                       where, ": 'weights.", names_[i], "' must be ", averages_[i].scalar_type(), " ",
                       averages_[i].sizes(), ", got ", found->second.scalar_type(), " ",
                       found->second.sizes());
  }
  for (const auto& [name, t] : state) {
    const bool known = name.starts_with("weights.") &&
                       std::find(names_.begin(), names_.end(), name.substr(8)) != names_.end();
    require<DataError>(known || name == "updates", where, ": average state has an unexpected tensor '", name,
                       "'");
  }
  const at::NoGradGuard no_grad;
  for (size_t i = 0; i < names_.size(); ++i) {
    const auto found = state.find("weights." + names_[i]);
    averages_[i].copy_(found == state.end() ? weights_[i] : found->second);
  }
  updates_ = updates->second.item<int64_t>();
}

WithAverage::WithAverage(Average* average, Module& model) : average_(average), model_(model) {
  if (average_) {
    average_->swap();
    model_.train(model_.training());
  }
}

WithAverage::~WithAverage() {
  if (average_) {
    average_->swap();
    model_.train(model_.training());
  }
}

}  // namespace weyl
