#pragma once

#include "weyl/algebra/irreps/steerable_type.h"
#include "weyl/models/work.h"
#include "weyl/nn/module.h"

namespace weyl::steerable {

/// From steerable features to steerable features, (B, 2 F_in, pixels...) -> (B, 2 F_out, pixels...).
class Layer : public Module {
 public:
  virtual Tensor operator()(const Tensor& x) const = 0;
  /// Of a pixel: nothing, where numbers are worked on one by one.
  virtual Work work() const { return {}; }
};

/// Shape for one number a channel against x (B, channels, pixels...): (1, channels, 1, ...).
inline Tensor along_channels(const Tensor& values, const Tensor& x) {
  std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
  shape[1] = values.size(0);
  return values.to(x.scalar_type()).view(shape);
}

}  // namespace weyl::steerable
