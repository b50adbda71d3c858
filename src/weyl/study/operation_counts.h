#pragma once

#include <functional>

namespace weyl {

/// Floating-point operations, multiply-adds counting two, that are done on this thread while `work` runs: matrix
/// products and convolutions of LibTorch, of real and of complex numbers, forward and backward, and what weyl's own
/// kernels tell of themselves (ops/autograd/operations.h), values and first derivatives.
double operations_of(const std::function<void()>& work);

}  // namespace weyl
