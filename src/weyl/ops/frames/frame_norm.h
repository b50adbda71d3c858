#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// Layer norm over the C channels of each frame by itself: y = weight (x - mean) / sqrt(var + epsilon) +
/// bias. x (N, G C), weight and bias (C), shared by the frames -> (N, G C). Both undefined: the norm has no parameters
/// and the whole row is one frame, as in the plain transformer. Differentiable to any order. ShapeError: one of weight
/// and bias alone, widths that do not divide the row.
Tensor frame_layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {},
                        double epsilon = 1e-5);

/// The end of a branch: sum = x + branch + branch_bias. x, branch (N, G C); branch_bias (C), shared by the
/// frames, or undefined -> (N, G C).
Tensor add_branch(const Tensor& x, const Tensor& branch, const Tensor& branch_bias);

/// The end of one branch and the start of the next in one pass:
///   sum = x + branch + branch_bias,   normed = frame_layer_norm(sum, weight, bias).
struct NormedSum {
  Tensor sum, normed;  // (N, G C)
};
NormedSum add_branch_and_norm(const Tensor& x, const Tensor& branch, const Tensor& branch_bias,
                              const Tensor& weight = {}, const Tensor& bias = {}, double epsilon = 1e-5);

}  // namespace weyl
