#pragma once

#include <memory>

#include "weyl/models/work.h"
#include "weyl/nn/derived.h"
#include "weyl/nn/module.h"
#include "weyl/ops/steerable/kernel.h"

namespace weyl::steerable {

struct ConvOptions {
  KernelOptions kernel;
  int64_t stride = 1, dilation = 1;
  bool same = true;  // zeros around, so that stride 1 keeps the size (odd kernels); false: the valid part
};

/// Steerable convolution (paper, section 2.4, eqs. 1 and 2 with the rotations in Fourier space, eq. 5; it turns features
/// by eq. 6), a correlation: y(x) = sum_p K(p) f(x + p), without a bias,
/// which no irrep but the trivial one has. (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...), see
/// SteerableType. Parameter `weight` (n, 2) complex, initialised as complex normal numbers so that features keep
/// their size. Two orders of evaluation with equal results, picked by cost: the expanded kernel (in
/// evaluation mode expanded once), or the fixed filters first and the mixing of channels after
/// (ops/steerable/conv.h).
class Conv : public Module {
 public:
  /// ShapeError: `same` with an even kernel; see also Kernel.
  Conv(const SteerableType& in, const SteerableType& out, const ConvOptions& options);
  Tensor operator()(const Tensor& x) const;
  /// Of a pixel of the result, as a dense convolution. `input_learns`: the input depends on parameters.
  Work work(bool input_learns = true) const;
  const SteerableType& in() const { return kernel_->in; }
  const SteerableType& out() const { return kernel_->out; }

 protected:
  void mode_changed() override { expanded_.drop(); }

 private:
  ConvOptions options_;
  std::shared_ptr<const Kernel> kernel_;
  Tensor weight_;
  Derived expanded_;
};

}  // namespace weyl::steerable
