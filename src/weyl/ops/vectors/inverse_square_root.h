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

}  // namespace weyl
