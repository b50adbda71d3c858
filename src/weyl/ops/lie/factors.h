#pragma once

#include <cstdint>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl::lie {

/// How many numbers make an element of the group without its exponential: 2 (plane) or 6 (space) of the rotation, those of
/// scale and traceless symmetric part of an affine map, and those of the translation.
int64_t factor_numbers(LieGroup group);

/// Elements of a Lie group from free numbers, (N, factor_numbers) -> compact (N, c): the whole group and no chart, where
/// exp misses elements (diag(-1, -2) of Aff(2) is no exponential) or runs through every turn again and again. Delta in
/// theorem 4 of the paper.
///
///   rotation     in the plane the direction of (1, 0) + (a, b); in space e1 + a and e2 + b made orthonormal one after the
///                other (Zhou et al., On the continuity of rotation representations, CVPR 2019), e1 x e2 the third column
///   affine map   R exp(S), R the rotation above and S symmetric: every A of positive determinant has one such form, the
///                polar one, so that det A = exp(tr S) > 0
///   translation  as it is
///
/// Zeros give the identity. Rotations are smooth but where a column vanishes or both are parallel: there a fixed rotation
/// is taken, with derivative zero. float32 or float64; differentiable to any order. ShapeError: another shape.
Tensor factors(const Tensor& numbers, LieGroup group);

}  // namespace weyl::lie
