#pragma once

#include "weyl/nn/module.h"

namespace weyl {

/// The initialisation of a linear map: weight and bias from U(-1/sqrt(I), 1/sqrt(I)), torch's default; or, by Xavier's
/// law, the weight from U(-a, a), a = sqrt(6 / (I + O)), and the bias zero.
enum class LinearInit { torch, xavier };

/// y = x W^T + b, with x (..., I), y (..., O). Parameters `weight` (O, I) (decays) and `bias` (O).
class Linear : public Module {
 public:
  Linear(int64_t in, int64_t out, bool bias = true, LinearInit init = LinearInit::torch);
  Tensor operator()(const Tensor& x) const;
  Tensor without_bias(const Tensor& x) const;  // x W^T, for who adds the bias with something else
  /// Multiplies the initial weight: before training, where many maps are added one after the other.
  void scale_init(double factor);
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }  // undefined without

 private:
  Tensor weight_, bias_;
};

}  // namespace weyl
