#pragma once

#include <functional>

#include "weyl/kernels/cuda/tables.h"
#include "weyl/kernels/dispatch.h"
#include "weyl/ops/autograd/differentiable.h"

namespace weyl {

/// True when CPU kernels can take these inputs: every defined one is a dense CPU tensor, all float32 or all
/// float64, and no WithoutKernels lives. Every op asks it before it runs a kernel.
bool kernels_take(const Tensors& inputs);

/// True when kernels for CUDA can take these: the build has them (CMake's WEYL_CUDA), every defined input is a dense tensor
/// on one CUDA device, all float32 or all float64.
bool cuda_kernels_take(const Tensors& inputs);

/// The table of a kernel for tensors on that device, where one of the two above has said yes.
template <class Kernel>
const Kernel& kernel_on(at::Device device) {
  return device.is_cuda() ? *kernels::for_cuda<Kernel>() : kernels::best<Kernel>();
}

/// work(first, last) for rows 0 to `rows`: shared out among threads, so many that each has enough of them at
/// `nanoseconds` a row; on a CUDA device called once, with its current stream to queue on.
void share_or_queue(at::Device device, int64_t rows, double nanoseconds,
                    const std::function<void(int64_t, int64_t)>& work);

/// Calls f with a float or a double, by the dtype that these have allowed.
template <class F>
auto with_type(at::ScalarType type, const F& f) {
  return type == at::kFloat ? f(float{}) : f(double{});
}

/// The numbers of a tensor that may be undefined.
template <class T>
const T* numbers(const Tensor& x) {
  return x.defined() ? x.const_data_ptr<T>() : nullptr;
}
template <class T>
T* mutable_numbers(const Tensor& x) {
  return x.defined() ? x.mutable_data_ptr<T>() : nullptr;
}

/// x in rows, or undefined as it is.
inline Tensor contiguous_of(const Tensor& x) {
  return x.defined() ? x.contiguous() : x;
}

/// The row of a worker in sums (workers, C), which may be undefined.
template <class T>
T* row_of(const Tensor& sums, int64_t worker) {
  return sums.defined() ? sums.mutable_data_ptr<T>() + worker * sums.size(1) : nullptr;
}

}  // namespace weyl
