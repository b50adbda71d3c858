#pragma once

#include "weyl/nn/module.h"

namespace weyl {

/// y = x W^T + b, with x (..., I), y (..., O). Parameters `weight` (O, I) (decays) and `bias` (O), both
/// started from U(-1/sqrt(I), 1/sqrt(I)), torch's default.
class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out, bool bias = true);
  Tensor operator()(const Tensor& x) const;
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without

 private:
  Tensor weight_, bias_;
};

}  // namespace weyl
