#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::lie {

// Elements of a Lie group as rows of numbers in compact storage, (N, c), c = compact_size(group). Tangents are (N,
// dof), in physical coordinates unless said otherwise (algebra/lie/group_list.h, algebra/lie/group.h). float32 or
// float64, on any device; the affine groups compute in float64. Differentiable to any order, with first and second
// derivatives finite wherever results are (a singular affine map has no inverse). ShapeError unless shapes and dtypes
// agree, and for a rotation of norm 0, naming its row.
//
// Gradients by (c, s) and by quaternions are those of functions that do not depend on their norm.

/// Matrices (N, m, m) to compact storage. They must be elements to rounding (Lie::distance measures it). Rotations
/// become the nearest ones, so that rounded matrices move as elements do.
Tensor compact_elements(const Tensor& matrices, LieGroup group);
/// Compact storage (N, c) to matrices (N, m, m), homogeneous unless m = n.
Tensor element_matrices(const Tensor& compact, LieGroup group);

/// exp(hat w), (N, dof) -> (N, c), of every finite w; NaN of others.
Tensor exp(const Tensor& coordinates, LieGroup group);
/// a b; the rotations are normalised again.
Tensor compose(const Tensor& a, const Tensor& b, LieGroup group);
/// a^-1 b; the difference of the translations is taken first.
Tensor between(const Tensor& a, const Tensor& b, LieGroup group);

/// |a^-1 b - 1|_F^2 (N), of homogeneous matrices: how far b is from a, also where a^-1 b has no logarithm.
Tensor frobenius_distances(const Tensor& a, const Tensor& b, LieGroup group);

/// Physical coordinates (..., dof) to orthonormal ones, whose squares sum to the squared Frobenius norm, and back.
Tensor to_orthonormal(const Tensor& w, LieGroup group);
Tensor from_orthonormal(const Tensor& w, LieGroup group);

}  // namespace weyl::lie
