#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Normal densities of numbers u (N), of means m and inverse widths w (K): with z = (u - m) w,
///   b = w exp(-z^2 / 2) / sqrt(2 pi), and 0 where z^2 > 128.
/// Rows first <= i < last. T is float or double.
template <class T>
struct GaussianDensitiesInput {
  int64_t count = 0;  // K
  const T *u = nullptr, *means = nullptr, *inverse = nullptr;
};

template <class T>
struct GaussianDensities {
  /// Writes b (N, K).
  void (*forward)(const GaussianDensitiesInput<T>& in, T* b, int64_t first, int64_t last);

  /// Given gb (N, K), writes gu (N) and adds to gm and gs (K), gradients of the means and of the widths 1 / w.
  /// Null: not wanted.
  void (*backward)(const GaussianDensitiesInput<T>& in, const T* gb, T* gu, T* gm, T* gs, int64_t first,
                   int64_t last);

  /// Derivative of the backward function: given the gradients du (N) of gu, dm and ds (K) of gm and gs (null:
  /// zero), writes those of u, gu (N), and of gb, ggb (N, K), and adds to gm and gs (K). Null: not wanted.
  void (*second)(const GaussianDensitiesInput<T>& in, const T* gb, const T* du, const T* dm, const T* ds,
                 T* gu, T* gm, T* gs, T* ggb, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
