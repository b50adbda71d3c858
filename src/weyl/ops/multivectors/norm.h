#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Equivariant layer norm of multivectors: y = x / sqrt(max(m, epsilon)), m the mean over the C channels of a token of
/// <x, x>, the sum of squares of the eight components without e0 (Geometric Algebra Transformer, eq. 8; clamped, as
/// the authors' code does, not added). x (16, N, C) -> (16, N, C). At least float32, also under autocast.
/// Differentiable to any order, finite where x is zero. ShapeError unless epsilon > 0 and x has a channel.
Tensor normalise_multivectors(const Tensor& x, double epsilon);

}  // namespace weyl
