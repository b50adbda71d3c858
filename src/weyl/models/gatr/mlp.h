#pragma once

#include "weyl/models/gatr/bilinear.h"
#include "weyl/models/gatr/options.h"

namespace weyl::gatr {

/// The feed-forward part of a block: the bilinear layer to twice the channels, the gated nonlinearity, a linear map
/// back; in training `dropout` after both layers. Children layers.0 and layers.2, as the authors number them without
/// dropout.
class GeometricMlp : public Module {
 public:
  explicit GeometricMlp(const Options& options);
  Streams operator()(const Streams& x, const Tensor& reference) const;
  double flops() const { return bilinear_->flops() + linear_->flops(); }  // of one token
  double nominal_flops() const { return bilinear_->nominal_flops() + linear_->nominal_flops(); }

 private:
  MultivectorGate activation_;
  double dropout_;
  std::shared_ptr<Bilinear> bilinear_;
  std::shared_ptr<EquiLinear> linear_;
};

}  // namespace weyl::gatr
