#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::lie {

// Elements of a Lie group as rows of numbers in compact storage, (N, c), c = compact_size(group); tangents
// (N, dof) in physical coordinates unless said otherwise (algebra/lie/group_list.h, algebra/lie/group.h). float32 or
// float64, any device; differentiable to any order, with first and second derivatives finite wherever results
// are (a singular affine map has no inverse). The affine groups compute in float64. ShapeError unless shapes
// and dtypes agree, and for a rotation of norm 0, by its row.
//
// Gradients by (c, s) and by quaternions are those of functions that do not depend on their norm.

/// Matrices (N, m, m) to compact storage, rotations to the nearest one, so that rounded matrices move as
/// elements do. Matrices must be elements to rounding (Lie::distance measures it).
Tensor compact_elements(const Tensor& matrices, LieGroup group);
/// (N, c) -> (N, m, m), homogeneous unless m = n.
Tensor element_matrices(const Tensor& compact, LieGroup group);

/// exp(hat w) of every finite w, NaN of others: (N, dof) -> (N, c).
Tensor exp(const Tensor& coordinates, LieGroup group);
/// a b, with rotations normalised again.
Tensor compose(const Tensor& a, const Tensor& b, LieGroup group);
/// a^-1 b, the difference of the translations first.
Tensor between(const Tensor& a, const Tensor& b, LieGroup group);

/// Physical coordinates (..., dof) to those whose squares sum to the squared Frobenius norm, and back.
Tensor to_orthonormal(const Tensor& w, LieGroup group);
Tensor from_orthonormal(const Tensor& w, LieGroup group);

}  // namespace weyl::lie
