#pragma once

#include "weyl/ops/autograd/differentiable.h"

namespace weyl {

/// True when CPU kernels can take these inputs: every defined one is a dense CPU tensor, all float32 or all
/// float64, and no WithoutKernels lives. Every op asks it before it runs a kernel.
bool kernels_take(const Tensors& inputs);

/// Calls f with a float or a double, by the dtype that kernels_take has allowed.
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
