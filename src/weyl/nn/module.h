#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weyl {

using at::Tensor;

/// One stored tensor of a model. Weight decay touches only the parameters that a module declares with `decay`.
struct Parameter {
  std::string name;  // dotted path, as in the authors' state dict
  Tensor tensor;
  bool decay = false;
  bool complex_pair = false;  // the last dimension (2) holds real and imaginary part of one number
  bool trainable = true;
  bool frozen = false;  // keeps its value while others are trained (Module::freeze)
};

/// How a parameter is initialised.
struct Init {
  enum class Law { zeros, ones, constant, normal, uniform } law = Law::zeros;
  double a = 0, b = 0;
  static Init zeros() { return {Law::zeros}; }
  static Init ones() { return {Law::ones}; }
  static Init constant(double value) { return {Law::constant, value}; }
  static Init normal(double std) { return {Law::normal, std}; }                // N(0, std^2)
  static Init uniform(double bound) { return {Law::uniform, -bound, bound}; }  // U(-bound, bound)
};

/// A tree of named parameters, in the order of their declaration. There are no buffers: index tables and constants
/// belong to the objects that define them, so that `to` can never cast them. A member `Tensor weight` is set from
/// `parameter(...)` in the constructor and stays the same tensor object for life; `to` replaces its data.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::vector<Parameter> parameters() const;                   // depth first, in declaration order
  std::vector<std::pair<std::string, int64_t>> parts() const;  // parameter_count by top-level name
  int64_t parameter_count() const;                             // trainable; a complex number counts once
  int64_t parameter_count_real() const;                        // trainable; real numbers

  /// Converts every floating-point parameter, and drops what was cached. To be called before an optimiser or a graph
  /// holds the parameters.
  void to(at::ScalarType dtype);
  void to(at::Device device);
  at::ScalarType dtype() const;  // of the first parameter (float32 without any)
  at::Device device() const;

  /// Training mode switches dropout and drop path on. Evaluation mode may cache what is constant, such as expanded
  /// kernels: what follows from weights that require no gradient, or while gradients are off (nn/derived.h). The mode
  /// reaches every child but frozen ones, which stay in evaluation mode. After weights were changed in place in
  /// evaluation mode, call `train(false)` again.
  void train(bool on = true);
  bool training() const { return training_; }

  /// Freezes the parameter of this name and those below it: "layers.0" holds "layers.0.mlp.weight", but not
  /// "layers.01.weight". They no longer require a gradient. A module that is frozen as a whole stays in evaluation
  /// mode: no dropout, no statistics that move. Returns the number of parameters frozen.
  int64_t freeze(std::string_view prefix);

 protected:
  /// Declares a parameter, on the current construction device and in its dtype (see BuildOn). Random initial values are
  /// drawn in float64 from torch's CPU generator, so that they agree on every device and in every dtype.
  Tensor parameter(std::string name, const std::vector<int64_t>& shape, Init init, bool decay = false);
  /// Declares a parameter with the given initial values (double precision, any device).
  Tensor parameter(std::string name, const Tensor& init, bool decay = false, bool trainable = true);
  /// Declares complex numbers. The last dimension (2) of the initial values holds real and imaginary part.
  Tensor complex_parameter(std::string name, const Tensor& init, bool decay = false);

  /// Declares a child. Its parameters are named `name`.x; a name may hold dots ("layers.0"). A child with an empty name
  /// adds no prefix: its parameters are named as if they were declared here.
  template <class M>
  std::shared_ptr<M> child(std::string name, std::shared_ptr<M> module) {
    children_.emplace_back(std::move(name), module);
    return module;
  }

  /// Called after `train` has changed or renewed the mode: caches must be dropped.
  virtual void mode_changed() {}

 private:
  void collect(const std::string& prefix, std::vector<Parameter>& into) const;
  Tensor first_tensor(bool floating) const;  // in the order of `parameters`
  int64_t freeze(std::string_view prefix, const std::string& at);
  static std::string below(const std::string& at, const std::string& child);
  std::vector<Parameter> own_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
  bool training_ = true, frozen_ = false;
};

/// While one lives (thread-local), parameters are made on this device and in this dtype. On the meta device they have
/// shapes only, so that parameters are counted without memory.
class BuildOn {
 public:
  BuildOn(at::Device device, at::ScalarType dtype);
  ~BuildOn();
  BuildOn(const BuildOn&) = delete;
  BuildOn& operator=(const BuildOn&) = delete;
  static at::Device device();
  static at::ScalarType dtype();

 private:
  at::Device old_device_;
  at::ScalarType old_dtype_;
};

}  // namespace weyl
