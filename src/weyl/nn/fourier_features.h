#pragma once

#include "weyl/nn/module.h"

namespace weyl {

/// Random Fourier features of all coordinates together: x (N, I) -> (N, 2F),
///   [cos(2 pi B x), sin(2 pi B x)],  B (F, I) ~ N(0, sigma^2), fixed.
/// B is a parameter that is saved and not trained. Angles are never below float32.
class FourierFeatures : public Module {
 public:
  FourierFeatures(int64_t in, int64_t frequencies, double sigma);
  Tensor operator()(const Tensor& x) const;

 private:
  Tensor frequencies_;
};

}  // namespace weyl
