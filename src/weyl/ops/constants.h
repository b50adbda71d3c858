#pragma once

#include <ATen/core/Tensor.h>

namespace weyl {

using at::Tensor;

/// A list of numbers that the program or a model's options fix (indices, signs, table entries) as a tensor (n).
/// On devices other than the CPU one tensor is made for each list and kept as long as the process lives: bringing it there
/// in each call would let the device wait for the host. Not for lists that depend on a batch: those are Segments::table.
/// Thread-safe. The result is shared: it must not be written to.
Tensor constant(at::IntArrayRef values, at::Device device);  // int64
Tensor constant(at::ArrayRef<double> values, at::ScalarType dtype, at::Device device);

}  // namespace weyl
