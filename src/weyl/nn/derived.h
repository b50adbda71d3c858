#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <mutex>

namespace weyl {

/// A tensor that follows from a module's parameters: made anew on each use in training, once (as a constant,
/// without a graph) in evaluation mode. Safe to use from several threads.
class Derived {
 public:
  template <class Make>
  at::Tensor get(bool training, Make make) const {
    if (training) {
      return make();
    }
    const std::lock_guard lock(mutex_);
    if (!made_.defined()) {
      const at::NoGradGuard constant;
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
