#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "weyl/core/random.h"

namespace weyl {

/// Tensors of independent draws from a stream, in row-major order; float64 on the CPU.
at::Tensor normal_tensor(const std::vector<int64_t>& shape, Stream& stream);  // N(0, 1)
at::Tensor uniform_tensor(const std::vector<int64_t>& shape, double low, double high,
                          Stream& stream);  // U(low, high)

}  // namespace weyl
