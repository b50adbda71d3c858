#pragma once

#include "weyl/nn/module.h"

namespace weyl {

/// K normal densities of lengths that each pair of types stretches and shifts (Graphormer-3D; GeoMFormer,
/// structural bias and input layer): with u = mul_t d + bias_t,
///   b_k = exp(-((u - mean_k) / s_k)^2 / 2) / (sqrt(2 pi) s_k),   s_k = |std_k| + epsilon.
/// Parameters `means.weight`, `stds.weight` (1, K), drawn from U(0, 3), `mul.weight` (T, 1) of ones and
/// `bias.weight` (T, 1) of zeros. Computed in float32 at least. (The authors' code has 3.14159 for pi.)
class GaussianBasis : public Module {
 public:
  /// `types`: T, of pairs or of nodes. ShapeError unless K and T are positive.
  GaussianBasis(int64_t count, int64_t types, double epsilon = 1e-5);
  /// d (E), types (E) int64, 0 <= t < T -> (E, K). Differentiable to any order.
  Tensor operator()(const Tensor& d, const Tensor& types) const;

 private:
  double epsilon_;
  Tensor means_, deviations_, factors_, shifts_;
};

}  // namespace weyl
