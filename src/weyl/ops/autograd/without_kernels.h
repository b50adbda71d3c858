#pragma once

namespace weyl {

/// While one lives, the CPU behaves as a device without kernels, in the whole process and on all its threads:
/// every op runs by its torch expression (Differentiable::without_kernels), value and derivatives, as it does
/// on a GPU. For tests.
class WithoutKernels {
 public:
  WithoutKernels();
  ~WithoutKernels();
  WithoutKernels(const WithoutKernels&) = delete;
  WithoutKernels& operator=(const WithoutKernels&) = delete;
  static bool active();
};

}  // namespace weyl
