// Tensors of multivectors as kernels read and write them.
#pragma once

#include "weyl/kernels/multivectors/rows.h"
#include "weyl/ops/autograd/kernel_inputs.h"

namespace weyl {

/// (16, N, C), or undefined, without a copy unless channels of a token do not lie side by side: slices along channels
/// are read where they are.
struct ComponentRows {
  ComponentRows() = default;
  explicit ComponentRows(const Tensor& x)
      : tensor(!x.defined() || x.size(2) <= 1 || x.stride(2) == 1 ? x : x.contiguous()) {}

  /// From channel `first` of x on: without the tensor that `narrow` makes.
  ComponentRows(const Tensor& x, int64_t first) : ComponentRows(x) { offset_ = x.defined() ? first : 0; }

  template <class T>
  kernels::MultivectorRows<const T> read() const {
    return {tensor.defined() ? numbers<T>(tensor) + offset_ : nullptr, stride(0), stride(1)};
  }
  template <class T>
  kernels::MultivectorRows<T> write() const {
    return {tensor.defined() ? mutable_numbers<T>(tensor) + offset_ : nullptr, stride(0), stride(1)};
  }

  Tensor tensor;

 private:
  int64_t offset_ = 0;

  int64_t stride(int64_t axis) const { return tensor.defined() ? tensor.stride(axis) : 0; }
};

}  // namespace weyl
