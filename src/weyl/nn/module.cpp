#include "weyl/nn/module.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include "weyl/core/check.h"

namespace weyl {
namespace {

thread_local at::Device build_device = at::kCPU;
thread_local at::ScalarType build_dtype = at::kFloat;

Tensor initial_values(const std::vector<int64_t>& shape, const Init& init) {
  const auto on_cpu = at::TensorOptions().dtype(at::kDouble);
  switch (init.law) {
    case Init::Law::zeros:
      return at::full(shape, 0.0, on_cpu);
    case Init::Law::ones:
      return at::full(shape, 1.0, on_cpu);
    case Init::Law::constant:
      return at::full(shape, init.a, on_cpu);
    case Init::Law::normal:
      return at::randn(shape, on_cpu) * init.a;
    case Init::Law::uniform:
      return at::rand(shape, on_cpu) * (init.b - init.a) + init.a;
  }
  return {};
}

int64_t count(const Parameter& parameter, bool complex_once) {
  const int64_t numbers = parameter.trainable ? parameter.tensor.numel() : 0;
  return complex_once && parameter.complex_pair ? numbers / 2 : numbers;
}

}  // namespace

BuildOn::BuildOn(at::Device device, at::ScalarType dtype)
    : old_device_(build_device), old_dtype_(build_dtype) {
  build_device = device;
  build_dtype = dtype;
}
BuildOn::~BuildOn() {
  build_device = old_device_;
  build_dtype = old_dtype_;
}
at::Device BuildOn::device() {
  return build_device;
}
at::ScalarType BuildOn::dtype() {
  return build_dtype;
}

Tensor Module::parameter(std::string name, const std::vector<int64_t>& shape, Init init, bool decay) {
  const bool shape_only = build_device.is_meta();
  const Tensor values = shape_only
                            ? at::empty(shape, at::TensorOptions().device(at::kMeta).dtype(at::kDouble))
                            : initial_values(shape, init);
  return parameter(std::move(name), values, decay);
}

Tensor Module::parameter(std::string name, const Tensor& init, bool decay, bool trainable) {
  for (const auto& known : own_) {
    require(known.name != name, "Module: parameter '", name, "' is declared twice");
  }
  Tensor tensor = build_device.is_meta()
                      ? at::empty(init.sizes(), at::TensorOptions().device(at::kMeta).dtype(build_dtype))
                      : init.detach().to(build_device, build_dtype, /*non_blocking=*/false, /*copy=*/true);
  tensor.set_requires_grad(trainable);
  own_.push_back({std::move(name), tensor, decay, /*complex_pair=*/false, trainable});
  return tensor;
}

Tensor Module::complex_parameter(std::string name, const Tensor& init, bool decay) {
  require(init.dim() > 0 && init.size(-1) == 2, "Module: complex parameter '", name,
          "' must end in a dimension of 2, got ", init.sizes());
  Tensor tensor = parameter(std::move(name), init, decay);
  own_.back().complex_pair = true;
  return tensor;
}

std::string Module::below(const std::string& at, const std::string& child) {
  return child.empty() ? at : at + child + ".";
}

void Module::collect(const std::string& prefix, std::vector<Parameter>& into) const {
  for (Parameter parameter : own_) {
    parameter.name = prefix + parameter.name;
    into.push_back(std::move(parameter));
  }
  for (const auto& [name, module] : children_) {
    module->collect(below(prefix, name), into);
  }
}

std::vector<Parameter> Module::parameters() const {
  std::vector<Parameter> all;
  collect("", all);
  return all;
}

std::vector<std::pair<std::string, int64_t>> Module::parts() const {
  std::vector<std::pair<std::string, int64_t>> parts;
  for (const auto& parameter : parameters()) {
    const auto top = parameter.name.substr(0, parameter.name.find('.'));
    if (parts.empty() || parts.back().first != top) {
      parts.emplace_back(top, 0);
    }
    parts.back().second += count(parameter, /*complex_once=*/true);
  }
  return parts;
}

int64_t Module::parameter_count() const {
  int64_t sum = 0;
  for (const auto& parameter : parameters()) {
    sum += count(parameter, /*complex_once=*/true);
  }
  return sum;
}

int64_t Module::parameter_count_real() const {
  int64_t sum = 0;
  for (const auto& parameter : parameters()) {
    sum += count(parameter, /*complex_once=*/false);
  }
  return sum;
}

void Module::to(at::ScalarType dtype) {
  for (const auto& parameter : parameters()) {
    if (parameter.tensor.is_floating_point()) {
      parameter.tensor.set_data(parameter.tensor.detach().to(dtype));
    }
  }
  train(training_);
}

void Module::to(at::Device device) {
  for (const auto& parameter : parameters()) {
    parameter.tensor.set_data(parameter.tensor.detach().to(device));
  }
  train(training_);
}

Tensor Module::first_tensor(bool floating) const {
  for (const Parameter& parameter : own_) {
    if (!floating || parameter.tensor.is_floating_point()) {
      return parameter.tensor;
    }
  }
  for (const auto& [name, module] : children_) {
    if (const Tensor found = module->first_tensor(floating); found.defined()) {
      return found;
    }
  }
  return {};
}

at::ScalarType Module::dtype() const {
  const Tensor first = first_tensor(/*floating=*/true);
  return first.defined() ? first.scalar_type() : at::kFloat;
}

at::Device Module::device() const {
  const Tensor first = first_tensor(/*floating=*/false);
  return first.defined() ? first.device() : at::Device(at::kCPU);
}

int64_t Module::freeze(std::string_view prefix) {
  const int64_t found = freeze(prefix, "");
  train(training_);
  return found;
}

// `at` is this module's own name with its dot.
int64_t Module::freeze(std::string_view prefix, const std::string& at) {
  const auto within = [&](std::string_view name) {  // without a dot at its end
    return name == prefix || (name.starts_with(prefix) && name.substr(prefix.size()).starts_with('.'));
  };
  int64_t found = 0;
  for (Parameter& parameter : own_) {
    if (within(at + parameter.name)) {
      parameter.frozen = true;
      parameter.tensor.set_requires_grad(false);
      ++found;
    }
  }
  for (const auto& [name, module] : children_) {
    found += module->freeze(prefix, below(at, name));
  }
  frozen_ = frozen_ || (!at.empty() && within(std::string_view(at).substr(0, at.size() - 1)));
  return found;
}

void Module::train(bool on) {
  training_ = on && !frozen_;
  for (const auto& [name, module] : children_) {
    module->train(on);
  }
  mode_changed();
}

}  // namespace weyl
