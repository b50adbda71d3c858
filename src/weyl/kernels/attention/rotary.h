#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Rotations of interleaved pairs, row by row: y = R x,
///   (y_2f, y_2f+1) = (x_2f c_f - x_2f+1 s_f,  x_2f s_f + x_2f+1 c_f),   with -s_f for the inverse.
///   x       (N, W), rows `stride` apart; null: all ones.
///   c, s    (N, W/2) contiguous.
template <class T>
struct RotaryInput {
  int64_t width = 0, stride = 0;
  const T *x = nullptr, *cosine = nullptr, *sine = nullptr;
  bool inverse = false;
};

/// Of x, cosine and sine; null: not wanted, or, as tangents, zero. Contiguous.
template <class T>
struct RotaryNumbers {
  T *x = nullptr, *cosine = nullptr, *sine = nullptr;
};

/// Rows first <= i < last; y and gy (N, W) contiguous. T is float or double.
template <class T>
struct RotatePairs {
  void (*forward)(const RotaryInput<T>& in, T* y, int64_t first, int64_t last);
  void (*backward)(const RotaryInput<T>& in, const T* gy, const RotaryNumbers<T>& gradients, int64_t first,
                   int64_t last);
  /// The derivative of `backward`: given the tangents d of its results, the gradients of x, cosine and sine, and of gy
  /// (null: not wanted).
  void (*second)(const RotaryInput<T>& in, const T* gy, const RotaryNumbers<const T>& d,
                 const RotaryNumbers<T>& gradients, T* ggy, int64_t first, int64_t last);
};

}  // namespace weyl::kernels
