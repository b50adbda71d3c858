#pragma once

#include <vector>

#include "weyl/core/tensor_file.h"
#include "weyl/nn/module.h"

namespace weyl {

/// The exponential moving average (EMA) of a model's weights, and of what it keeps beside them (running
/// statistics belong to the weights that made them), after each step
///   a <- d' a + (1 - d') w,   d' = min(d, 1 - 1 / (t + 1)),   t = 0, 1, ... updates before this one
/// so the first update copies the weights and early ones are plain means; without warm-up d' = d always, and
/// the initial weights fade as d^t. Kept in the parameters' own dtype. Frozen parameters are their own averages, to
/// the last bit.
class Average {
 public:
  /// Starts as a copy of the parameters. ConfigError unless 0 <= decay < 1.
  Average(const std::vector<Parameter>& parameters, double decay, bool warmup = true);

  /// After a step. A parameter that is among `as_they_were` has changed since, and had that value after the step.
  void update(const NamedTensors& as_they_were = {});

  /// Exchanges weights and averages in place (no copy). Twice is the identity. A model in evaluation mode
  /// must be told
  /// (`train(false)`), because it may have cached what it computed from its weights. `update` is refused
  /// (ShapeError) while they are exchanged.
  void swap();
  bool swapped() const { return swapped_; }

  /// The averages, and the weights themselves, by parameter name, wherever they stand: no copies.
  NamedTensors averages() const;
  NamedTensors weights() const;

  /// "weights.<name>" for every parameter, and "updates" () int64; copies on the CPU.
  NamedTensors state() const;
  /// Older files have no averages of parameters that are not trainable: these start from the model's own, to
  /// be loaded before. DataError, naming the first missing, unexpected or misshaped tensor; `where` names the
  /// file.
  void load(const NamedTensors& state, const std::string& where);

 private:
  NamedTensors named(const std::vector<Tensor>& tensors) const;

  double decay_;
  bool warmup_;
  int64_t updates_ = 0;
  bool swapped_ = false;
  std::vector<std::string> names_;
  std::vector<bool> trainable_;
  std::vector<size_t> moving_;  // those that are not frozen
  std::vector<Tensor> weights_, averages_;
};

/// While one lives, the averages stand in the model's place; without an average it does nothing.
class WithAverage {
 public:
  WithAverage(Average* average, Module& model);
  ~WithAverage();
  WithAverage(const WithAverage&) = delete;
  WithAverage& operator=(const WithAverage&) = delete;

 private:
  Average* average_;
  Module& model_;
};

}  // namespace weyl
