#pragma once

#include <array>
#include <string_view>

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

/// K functions of a length: d (E) -> (E, K), differentiable to any order, at zero too.
class RadialBasis : public Module {
 public:
  virtual Tensor operator()(const Tensor& d) const = 0;
};

/// exp(-beta_k (exp(alpha (L - d)) - mean_k)^2) f(d), alpha = 5 / (R - L), f the cosine cutoff at R (PhysNet;
/// TorchMD-Net). Parameters `means` and `betas` (K), trained or not: means evenly from exp(L - R) to 1, betas
/// (2 (1 - exp(L - R)) / K)^-2. ShapeError unless 0 <= L < R and K >= 1.
class ExpNormalBasis : public RadialBasis {
 public:
  ExpNormalBasis(int64_t count, double upper, double lower = 0, bool trainable = false);
  Tensor operator()(const Tensor& d) const override;

 private:
  double upper_, lower_;
  Tensor means_, betas_;
};

/// sin(f_k d) / d, f_k = k pi / R, k = 1 .. K, and f_k at d = 0 (DimeNet; PaiNN). Parameter `freqs` (K),
/// trained or not. No cutoff: zero at R, with a slope. ShapeError unless R > 0 and K >= 1.
class BesselBasis : public RadialBasis {
 public:
  BesselBasis(int64_t count, double upper, bool trainable = false);
  Tensor operator()(const Tensor& d) const override;

 private:
  Tensor frequencies_;
};

/// exp(coeff (d - offset_k)^2), offsets evenly from L to R, coeff -1/2 over the square of their distance
/// (SchNet; TorchMD-Net). Parameters `coeff` () and `offset` (K), trained or not. No cutoff. ShapeError
/// unless 0 <= L < R and K >= 2.
class GaussianSmearing : public RadialBasis {
 public:
  GaussianSmearing(int64_t count, double upper, double lower = 0, bool trainable = false);
  Tensor operator()(const Tensor& d) const override;

 private:
  Tensor coefficient_, offsets_;
};

}  // namespace weyl
