#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include "weyl/ops/autograd/differentiable.h"

namespace weyl {

/// Whether what is computed from weights must keep its graph back to them: in training mode, and in evaluation mode
/// where gradients are on and one of them asks for its own. One rule for matrices, kernels and biases: a weight gets a
/// gradient whenever it requires one. `weights` may hold undefined tensors.
inline bool follows_weights(bool training, at::TensorList weights) {
  return training ||
         (at::GradMode::is_enabled() && std::any_of(weights.begin(), weights.end(), [](const auto& w) {
            return w.defined() && w.requires_grad();
          }));
}

/// A tensor (or several) that follows from a module's parameters, its `weights`: made anew on each use where it must
/// keep its graph back to them (follows_weights), else once, as a constant, which only UseReferences makes anew. Safe
/// to use from several threads.
template <class Value>
class DerivedValue {
 public:
  template <class Make>
  Value get(bool training, at::TensorList weights, Make make) const {
    if (follows_weights(training, weights)) {
      return make();
    }
    const at::NoGradGuard constant;
    if (UseReferences::active()) {
      return make();
    }
    const std::lock_guard lock(mutex_);
    if (!made_) {
      made_ = make();
    }
    return *made_;
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    made_.reset();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::optional<Value> made_;
};
using Derived = DerivedValue<at::Tensor>;
using DerivedTensors = DerivedValue<std::vector<at::Tensor>>;

}  // namespace weyl
