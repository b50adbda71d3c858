#pragma once

#include "weyl/kernels/multivectors/rows.h"

namespace weyl::kernels {

/// y = x s,  s = max(m, epsilon)^(-1/2),  m the mean over C channels of the squares of the components without e0.
/// x (16, N, C), tokens first <= n < last. T is float or double.
template <class T>
struct MultivectorNorm {
  /// Writes y and state (N): s, negative where epsilon held.
  void (*forward)(MultivectorRows<const T> x, int64_t channels, T epsilon, MultivectorRows<T> y, T* state,
                  int64_t first, int64_t last);

  /// Writes gx.
  void (*backward)(MultivectorRows<const T> x, int64_t channels, const T* state, MultivectorRows<const T> gy,
                   MultivectorRows<T> gx, int64_t first, int64_t last);

  /// The derivative of `backward`: given the gradient dx of gx, writes those of x and gy (null: not wanted).
  void (*second)(MultivectorRows<const T> x, int64_t channels, const T* state, MultivectorRows<const T> gy,
                 MultivectorRows<const T> dx, MultivectorRows<T> gx, MultivectorRows<T> ggy, int64_t first,
                 int64_t last);
};

}  // namespace weyl::kernels
