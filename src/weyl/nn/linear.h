#pragma once

#include "weyl/nn/linear_init.h"
#include "weyl/nn/module.h"

namespace weyl {

/// y = x W^T + b, with x (..., I), y (..., O). Parameters `weight` (O, I) (decays) and `bias` (O).
class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out, bool bias = true, LinearInit init = LinearInit::torch);
  Tensor operator()(const Tensor& x) const;
  Tensor without_bias(const Tensor& x) const;  // x W^T, for callers that add the bias with something else
  /// Multiplies the initial weight; to be called before training, where the results of many maps are added up.
  void scale_init(double factor);
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined when there is none

 private:
  Tensor weight_, bias_;
};

}  // namespace weyl
