#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// The linear maps of multivectors that commute with Pin(3,0,1) (Geometric Algebra Transformer, eq. 5): nine numbers
/// for each pair of channels, one for each map of `grade_basis` (group_numbers.h), divided by its Frobenius norm:
///   y_(i n o) = sum_(c a j) weight_(o c a) basis_(a i j) x_(j n c) + [i = 0] scalar_part_(n o).
/// Grade by grade: 24 products for each pair of channels and token, never a dense 16 x 16 map.
/// x (16, N, I), weight (O, I, 9) as the authors lay it out, scalar_part (N, O) or undefined: what scalars and a bias
/// add to the scalar component -> (16, N, O). Differentiable to any order. Under autocast in its precision.
/// ShapeError unless the shapes agree.
Tensor grade_linear(const Tensor& x, const Tensor& weight, const Tensor& scalar_part = {});

}  // namespace weyl
