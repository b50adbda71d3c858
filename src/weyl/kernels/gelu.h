#pragma once

#include <cstdint>

namespace weyl::kernels {

/// The exact GELU of x + bias, rows first <= i < last of x (N, width) contiguous; bias (channels), repeated
/// along the row, or null. T is float or double.
template <class T>
struct Gelu {
  int64_t width = 0, channels = 0;
  const T* x = nullptr;
  const T* bias = nullptr;
};

/// y = g(x + bias), contiguous.
template <class T>
void gelu(const Gelu<T>& args, T* y, int64_t first, int64_t last);

/// gx = gy g'(x + bias) (null: not wanted) and gbias (channels) += its sum over rows and frames (null: not
/// wanted).
template <class T>
void gelu_backward(const Gelu<T>& args, const T* gy, T* gx, T* gbias, int64_t first, int64_t last);

}  // namespace weyl::kernels
