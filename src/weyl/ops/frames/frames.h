#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// ShapeError unless x is a matrix (N, G C) for the given (C), which may be undefined, of the same dtype.
void require_frames(const char* where, const Tensor& x, const Tensor& per_channel);

/// x (N, G C) + b (C) in every frame; x itself when b is undefined.
Tensor add_to_frames(const Tensor& x, const Tensor& b);

}  // namespace weyl
