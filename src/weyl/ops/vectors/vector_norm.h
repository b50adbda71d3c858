#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Equivariant norm of vectors by the ellipsoid that the channels of a node span (GeoMFormer's Equ-LN, with
/// an isotropic share that keeps it bounded): with a = x - mean over channels and S = a a^T / C,
///   y = ((1 - rho) S + (rho tr(S) / 3 + epsilon) 1)^(-1/2) a weight.
/// rho = 0 whitens as the paper does; rho = 1 divides by the root mean square length alone. x (N, 3, C),
/// weight (C) -> (N, 3, C). Differentiable to any order that training on forces needs, also where
/// eigenvalues coincide. epsilon > 0 in the square of x's unit. ShapeError otherwise.
Tensor vector_norm(const Tensor& x, const Tensor& weight, double rho, double epsilon);

}  // namespace weyl
