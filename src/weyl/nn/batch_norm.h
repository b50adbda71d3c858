#pragma once

#include "weyl/nn/module.h"

namespace weyl {

/// Batch norm over the rows of x (B, C): in training by mean and variance of the batch, which go into
/// `running_mean` and `running_var` (C, no trainable parameters) with momentum 0.1; in evaluation, and in
/// training for a batch of one row or none, which has no variance, by those; in float32 at least. Parameters
/// `weight`, `bias` (C).
class BatchNorm : public Module {
 public:
  explicit BatchNorm(int64_t channels, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const;

 private:
  double epsilon_;
  Tensor weight_, bias_, mean_, var_;
};

}  // namespace weyl
