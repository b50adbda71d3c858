#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// The geometric product of multivectors, channel by channel: x, y (16, N, C) -> x y (16, N, C), 192 terms each.
/// Differentiable to any order. ShapeError unless the shapes agree.
Tensor geometric_product(const Tensor& x, const Tensor& y);

/// The join, made equivariant under reflections by a pseudoscalar of the input (Geometric Algebra Transformer, sec. 3):
///   reference_n J(x, y),   J(x, y) = dual(dual(x) ^ dual(y)).
/// x, y (16, N, C), reference (N): the component e123 of a multivector of each token's graph -> (16, N, C), 81 terms
/// each. Differentiable to any order, by the reference too. ShapeError unless the shapes agree.
Tensor join(const Tensor& x, const Tensor& y, const Tensor& reference);

/// Both in one pass, as GATr's bilinear layer has them: the products of `left` and `right` in the first h channels of
/// the result, the joins of `join_left` and `join_right` in the others. Each (16, N, h), reference (N)
/// -> (16, N, 2 h).
Tensor product_and_join(const Tensor& left, const Tensor& right, const Tensor& join_left,
                        const Tensor& join_right, const Tensor& reference);

/// The same of all four side by side, (16, N, 4 h), in that order: what one linear map for all of them gives.
Tensor product_and_join(const Tensor& four, const Tensor& reference);

}  // namespace weyl
