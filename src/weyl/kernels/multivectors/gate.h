#pragma once

#include <cstdint>

namespace weyl::kernels {

/// gelu: by the tanh formula. relu: its derivative at 0 is 0.
enum class GateLaw { gelu, relu, sigmoid };

/// y_i = x_i g(x_0) of multivectors x (16, size) contiguous; numbers first <= e < last of each component. T is float or
/// double.
template <class T>
struct MultivectorGating {
  void (*forward)(GateLaw law, const T* x, int64_t size, T* y, int64_t first, int64_t last);

  /// Writes gx.
  void (*backward)(GateLaw law, const T* x, const T* gy, int64_t size, T* gx, int64_t first, int64_t last);

  /// The derivative of `backward`: given the gradient dx of gx, writes those of x and gy (null: not wanted).
  void (*second)(GateLaw law, const T* x, const T* gy, const T* dx, int64_t size, T* gx, T* ggy,
                 int64_t first, int64_t last);
};

}  // namespace weyl::kernels
