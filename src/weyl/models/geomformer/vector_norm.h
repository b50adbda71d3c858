#pragma once

#include "weyl/models/geomformer/options.h"
#include "weyl/nn/module.h"

namespace weyl::geomformer {

/// The equivariant norm of GeoMFormer (Equ-LN) and its robust family, z (N, 3, d) -> (N, 3, d):
///   A = z - mean over channels,  C = A A^T / d,  t = tr C / 3,
///   whiten  ((1 - rho) C + (rho t + epsilon) I)^(-1/2) A weight   (rho = 0, epsilon -> 0: the paper's)
///   rms     A weight / sqrt(t + epsilon)                          (what whiten is at rho = 1).
/// Matrices in float64. Isotropic in space, so exactly O(3)-equivariant; first and second derivatives are
/// right for flat, linear and vanishing A too. Parameter `weight` (d).
class VectorNorm : public Module {
 public:
  VectorNorm(int64_t channels, VectorNormLaw law, double rho, double epsilon);
  Tensor operator()(const Tensor& z) const;

 private:
  double rho_, epsilon_;
  Tensor weight_;
};

}  // namespace weyl::geomformer
