#pragma once

#include <vector>

#include "weyl/core/tensor_file.h"
#include "weyl/nn/module.h"

namespace weyl {

/// The exponential moving average (EMA) of a model's weights and running statistics, which belong to the weights that
/// made them. After each step
///
///   a <- d' a + (1 - d') w,   d' = min(d, 1 - 1 / (t + 1)),   t = 0, 1, ... updates before this one
///
/// so the first update copies the weights, and early averages are plain means. Without warm-up d' is always d, and the
/// initial weights fade as d^t. Averages have the dtype of the parameters. Frozen parameters are their own averages, to
/// the last bit.
class Average {
 public:
  /// Starts as a copy of the parameters. ConfigError unless 0 <= decay < 1.
  Average(const std::vector<Parameter>& parameters, double decay, bool warmup = true);

  /// Updates the averages after a step. `as_they_were` holds the values after the step of those parameters that have
  /// changed since. ShapeError while averages and weights are exchanged.
  void update(const NamedTensors& as_they_were = {});

  /// Exchanges weights and averages in place (no copy); a second call undoes it. A model in evaluation mode must be
  /// told (`train(false)`), because it may have cached what it computed from its weights. While they are exchanged,
  /// `update` is refused (ShapeError).
  void swap();
  bool swapped() const { return swapped_; }

  /// The averages and the weights by parameter name, also while they are exchanged; no copies.
  NamedTensors averages() const;
  NamedTensors weights() const;

  /// "weights.<name>" for every parameter, and "updates" () int64; copies on the CPU.
  NamedTensors state() const;
  /// Loads the averages. Older files have no averages of parameters that are not trainable: these start from the
  /// model's own values, which must be loaded before. DataError names the first missing, unexpected or misshaped
  /// tensor; `where` names the file. ShapeError while averages and weights are exchanged.
  void load(const NamedTensors& state, const std::string& where);

 private:
  NamedTensors named(const std::vector<Tensor>& tensors) const;

  double decay_;
  bool warmup_;
  int64_t updates_ = 0;
  bool swapped_ = false;
  std::vector<std::string> names_;
  std::vector<bool> trainable_;
  std::vector<size_t> moving_;  // indices of the parameters that are not frozen
  std::vector<Tensor> weights_, averages_;
};

/// While an object lives, the model has the averages as its weights. Without an average it does nothing.
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
