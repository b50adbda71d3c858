#pragma once

#include <ATen/core/Tensor.h>
#include <functional>
#include <vector>

namespace weyl {

using at::Tensor;

/// The matrix products (mm and addmm, not the small batched ones) that some work calls on this thread, and in the backward
/// passes that it starts: their shapes and layouts, to be run again alone. Recordings of several threads take turns.
class MatrixProducts {
 public:
  struct Layout {
    std::vector<int64_t> sizes, strides;
  };
  struct Shape {
    Layout a, b;
    at::TensorOptions options;  // dtype and device
  };

  void record(const std::function<void()>& work);
  void replay() const;  // results are dropped

  size_t count() const { return shapes_.size(); }
  double flops() const;  // a multiply-add counts two

 private:
  std::vector<Shape> shapes_;
  std::vector<std::pair<Tensor, Tensor>> operands_;
};

/// Floating-point operations, multiply-adds counting two, that are done on this thread while `work` runs: matrix
/// products and convolutions of LibTorch, of real and of complex numbers, forward and backward, and what weyl's own
/// kernels tell of themselves (ops/autograd/operations.h), values and first derivatives.
double operations_of(const std::function<void()>& work);

}  // namespace weyl
