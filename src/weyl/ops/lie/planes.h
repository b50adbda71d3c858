// Elements of Lie groups as the planes that the kernels take. CPU tensors of float or double alone.
#pragma once

#include "weyl/algebra/lie/group_list.h"
#include "weyl/kernels/lie/pairs.h"
#include "weyl/ops/autograd/kernel_inputs.h"

namespace weyl::lie {

/// Rows (N, n) to planes (n, N), contiguous.
Tensor planes_of(const Tensor& rows);
/// The same; zeros like `other` for undefined rows.
Tensor planes_like(const Tensor& rows, const Tensor& other);
/// ShapeError when a rotation of elements (N, c) is 0, which has no direction; any device.
void require_rotations(const char* where, const Tensor& compact, LieGroup group);
/// Elements (N, c) to planes as logarithms take them: rotations normalised to the last place, the linear part
/// of singular affine maps 0.
Tensor normalised_planes(const Tensor& compact, LieGroup group);
/// The gradients by the numbers of g, (N, c), given those by e of g exp(e), planes (dof, N). Undefined stays so.
Tensor compact_gradient(const Tensor& compact, const Tensor& by_tangent, LieGroup group);

template <class T>
kernels::LieElements<T> elements_of(const Tensor& planes, LieGroup group) {
  return {group, planes.size(1), planes.size(1), numbers<T>(planes)};
}

}  // namespace weyl::lie
