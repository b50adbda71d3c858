// The tables of G(3,0,1) as tensors, for the torch expressions.
#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Which product of multivectors: x y, or J(x, y) = dual(dual(x) ^ dual(y)).
enum class MultivectorProduct { geometric, join };

/// The dense table of a product, out_i = sum_jk table_ijk x_j y_k: (16, 16, 16), dtype and device of `like`.
Tensor dense_table(MultivectorProduct product, const Tensor& like);

/// The terms of a product that are not zero: `left` and `right` (terms), int64, and `sum` (16, terms), which adds them
/// up with their signs. Device of `like`, `sum` of its dtype.
struct ProductTerms {
  Tensor left, right, sum;
};
ProductTerms product_terms(MultivectorProduct product, const Tensor& like);

/// The nine maps of multivectors that commute with Pin(3,0,1), each divided by its Frobenius norm: the projections on
/// the five grades, and the multiplications by e0 from the left of grades 0 to 3. (9, 16, 16), row = out.
Tensor grade_basis(const Tensor& like);

}  // namespace weyl
