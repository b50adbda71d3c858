#pragma once

#include <functional>

namespace weyl {

/// Floating-point operations, multiply-adds counting two, of all matrix products that LibTorch does while `work` runs,
/// on this thread: mm, addmm, and the batched bmm and baddbmm, of forward and backward passes. Kernels of weyl's own
/// do not show: run `work` under WithoutKernels, where torch expressions take their place.
double product_flops(const std::function<void()>& work);

}  // namespace weyl
