#pragma once

#include <ATen/core/Tensor.h>

#include "weyl/algebra/irreps/steerable_type.h"

namespace weyl::steerable {

using at::Tensor;

/// |f|^2 of each copy of an irrep, the sum over its components and both parts: (B, 2 F, pixels...) -> (B, S,
/// pixels...), S the sum of the channels, in the order irrep, channel; in float32 at least. Nothing turns it.
Tensor irrep_squares(const Tensor& features, const SteerableType& type);

/// Each irrep, counted with multiplicity, times a number: features (B, 2 F, pixels...), factors (B, S, pixels...)
/// or what broadcasts to it.
Tensor scale_irreps(const Tensor& features, const Tensor& factors, const SteerableType& type);

// Both: differentiable to any order, any device. ShapeError unless shapes fit.

}  // namespace weyl::steerable
