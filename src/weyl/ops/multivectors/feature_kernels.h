// The kernels of the features of attention (features.h), as ops call them. CPU tensors of float or double alone.
#pragma once

#include <vector>

#include "weyl/kernels/multivectors/features.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/multivectors/kernel_rows.h"

namespace weyl {

/// How H heads of C channels and S scalars lie in a token's row of channels and of scalars: `head_fastest`: channel c of
/// head h at c H + h, else at h C + c.
struct HeadLayout {
  int64_t heads = 1, channels = 0, scalars = 0;
  bool head_fastest = true;
};

struct FeatureGradients {
  Tensor x, scalars, weights, gy;
};
struct FeatureDirections {
  Tensor x, scalars, weights;  // undefined where zero
};
struct WantedFeatureGradients {
  bool x = false, scalars = false, weights = false, gy = false;
};

class FeatureKernels {
 public:
  FeatureKernels(kernels::FeatureRole role, double epsilon, const HeadLayout& layout);

  /// x (16, N, C H), scalars (N, S H) or undefined, weights (C H), as channels lie, or undefined -> (N, H, F C + S).
  Tensor forward(const Tensor& x, const Tensor& scalars, const Tensor& weights) const;

  /// From gy (N, H, F C + S). x may be undefined for values.
  FeatureGradients backward(const Tensor& x, const Tensor& weights, const Tensor& gy,
                            const WantedFeatureGradients& wanted) const;

  /// The derivative of `backward` along `directions`.
  FeatureGradients second(const Tensor& x, const Tensor& weights, const Tensor& gy,
                          const FeatureDirections& directions, const WantedFeatureGradients& wanted) const;

 private:
  template <class T>
  kernels::MultivectorFeaturesInput<T> arguments(const ComponentRows& x, const Tensor& weights) const;
  int64_t all_channels() const { return layout_.heads * layout_.channels; }
  int64_t all_scalars() const { return layout_.heads * layout_.scalars; }
  double cost() const;

  kernels::FeatureRole role_;
  double epsilon_;
  HeadLayout layout_;
  int64_t width_;  // of a head
  std::vector<int64_t> places_, scalar_places_;
};

}  // namespace weyl
