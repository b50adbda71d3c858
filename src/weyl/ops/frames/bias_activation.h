#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "weyl/kernels/frames/bias_activation.h"

namespace weyl {

using at::Tensor;
using kernels::ActivationLaw;
class GroupTables;

/// noise g(x + bias), differentiable to any order. x (N, G C), bias (C), shared by the frames, or undefined; noise (N, G C), a
/// constant, or undefined: one -> (N, G C). ShapeError unless C divides the row and dtypes agree.
Tensor bias_activation(const Tensor& x, const Tensor& bias, ActivationLaw law, const Tensor& noise = {});

/// The same of a function on a group, frames first, that comes and goes as planes (ops/frames/group_fourier.h): what is
/// between stays in the cache.
std::vector<Tensor> bias_activation(const std::vector<Tensor>& planes, const GroupTables& tables,
                                    const Tensor& bias, ActivationLaw law, const Tensor& noise = {});

/// The exact GELU of x + bias.
inline Tensor bias_gelu(const Tensor& x, const Tensor& bias) {
  return bias_activation(x, bias, ActivationLaw::gelu);
}
/// t / (1 + exp(-t)) of t = x + bias.
inline Tensor bias_silu(const Tensor& x, const Tensor& bias) {
  return bias_activation(x, bias, ActivationLaw::silu);
}

}  // namespace weyl
