#pragma once

#include "weyl/nn/module.h"
#include "weyl/ops/frames/frame_norm.h"

namespace weyl {

/// y = (x - mean) / sqrt(var + epsilon) over the last axis of x (..., C), without parameters.
Tensor normalise_layer(const Tensor& x, double epsilon = 1e-5);

/// A norm over the last axis, (..., C) -> (..., C).
class Norm : public Module {
 public:
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// The parameters of the norm, for ops that do more in one pass (ops/frames/frame_norm.h), with frames of C channels.
  virtual NormLaw law() const = 0;
};

/// y = weight (x - mean) / sqrt(var + epsilon) + bias. Parameters `weight`, `bias` (C), which do not decay.
class LayerNorm : public Norm {
 public:
  explicit LayerNorm(int64_t channels, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const override;
  NormLaw law() const override { return {weight_, bias_, epsilon_}; }

 private:
  double epsilon_;
  Tensor weight_, bias_;
};

/// y = weight x / sqrt(mean(x^2) + epsilon). The quotient is computed in float32 at least. Parameter `weight` (C).
class RmsNorm : public Norm {
 public:
  explicit RmsNorm(int64_t channels, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const override;
  NormLaw law() const override { return {weight_, {}, epsilon_, /*centred=*/false}; }

 private:
  double epsilon_;
  Tensor weight_;
};

/// Batch norm over the rows of x (B, C), in float32 at least. Parameters `weight`, `bias` (C).
///
/// In training it uses mean and variance of the batch, of all ranks where it is shared (nn/shared_batch.h), which go into
/// `running_mean` and `running_var` (C, not trainable) with momentum 0.1. It uses the running ones in evaluation, and in training for a batch of one row or
/// none, which has no variance. ShapeError unless x is (B, C).
class BatchNorm : public Module {
 public:
  explicit BatchNorm(int64_t channels, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const;

 private:
  double epsilon_;
  Tensor weight_, bias_, mean_, var_;
};

}  // namespace weyl
