#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <mutex>

#include "weyl/ops/autograd/differentiable.h"

namespace weyl {

/// A tensor that follows from a module's parameters: made anew on each use in training, once (as a constant,
/// without a graph) in evaluation mode, where only UseReferences makes it anew. Safe to use from several
/// threads.
class Derived {
 public:
  template <class Make>
  at::Tensor get(bool training, Make make) const {
    if (training) {
      return make();
    }
    const at::NoGradGuard constant;
    if (UseReferences::active()) {
      return make();
    }
    const std::lock_guard lock(mutex_);
    if (!made_.defined()) {
      made_ = make();
    }
    return made_;
  }
  void drop() {
    const std::lock_guard lock(mutex_);
    made_ = at::Tensor();
  }

 private:
  mutable std::mutex mutex_;
  mutable at::Tensor made_;
};

}  // namespace weyl
