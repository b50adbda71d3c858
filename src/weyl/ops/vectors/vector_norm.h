#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// C^(-1/2) of symmetric positive definite 3 x 3 matrices, (..., 3, 3) -> (..., 3, 3), float64 inside and out.
///
/// A polynomial of C: its coefficients are functions of a = tr S and b = (a^2 - tr S^2) / 2, S = C^(1/2),
/// which solve a^2 = 2 b + tr C and b^2 = 2 a sqrt(det C) + (tr C)^2 / 2 - tr C^2 / 2. They start at their
/// values from the eigenvalues and take two Newton steps with a graph, which makes derivatives up to the
/// third right, also where eigenvalues coincide and eigenvectors have no derivative. Exactly covariant:
/// Q C Q^T gives Q C^(-1/2) Q^T. ShapeError unless the last two axes are 3 and 3; what is not positive definite
/// gives NaN.
Tensor inverse_square_root(const Tensor& c);

using at::Tensor;

/// Equivariant norm of vectors by the ellipsoid that the channels of a node span (GeoMFormer's Equ-LN, with
/// an isotropic share that keeps it bounded): with a = x - mean over channels and S = a a^T / C,
///   y = ((1 - rho) S + (rho tr(S) / 3 + epsilon) 1)^(-1/2) a weight.
/// rho = 0 whitens as the paper does; rho = 1 divides by the root mean square length alone. x (N, 3, C),
/// weight (C) -> (N, 3, C). Differentiable to any order that training on forces needs, also where
/// eigenvalues coincide. epsilon > 0 in the square of x's unit. ShapeError otherwise.
Tensor vector_norm(const Tensor& x, const Tensor& weight, double rho, double epsilon);

}  // namespace weyl
