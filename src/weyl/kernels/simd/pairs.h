// Vectors of interleaved pairs (x0, x1), (x2, x3), ...
#pragma once

#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// (x1, x0, x3, x2, ...)
template <class T>
inline Vec<T> swap_pairs(Vec<T> x) {
  if constexpr (lanes<T> == 16) {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
  } else if constexpr (lanes<T> == 8) {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
  } else if constexpr (lanes<T> == 4) {
    return __builtin_shufflevector(x, x, 1, 0, 3, 2);
  } else {
    return __builtin_shufflevector(x, x, 1, 0);
  }
}

/// (x0, x0, x1, x1, ...), of the lower half
template <class T>
inline Vec<T> each_twice(Vec<T> x) {
  if constexpr (lanes<T> == 16) {
    return __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  } else if constexpr (lanes<T> == 8) {
    return __builtin_shufflevector(x, x, 0, 0, 1, 1, 2, 2, 3, 3);
  } else if constexpr (lanes<T> == 4) {
    return __builtin_shufflevector(x, x, 0, 0, 1, 1);
  } else {
    return __builtin_shufflevector(x, x, 0, 0);
  }
}

/// (-1, 1, -1, 1, ...) times `sign`
template <class T>
inline Vec<T> alternating(T sign) {
  Vec<T> v;
  for (int64_t i = 0; i < lanes<T>; ++i) {
    v[i] = i % 2 ? sign : -sign;
  }
  return v;
}

/// (x0 + x1, x2 + x3, ...), in the lower half
template <class T>
inline Vec<T> pair_sums(Vec<T> x) {
  x += swap_pairs<T>(x);
  if constexpr (lanes<T> == 16) {
    return __builtin_shufflevector(x, x, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
  } else if constexpr (lanes<T> == 8) {
    return __builtin_shufflevector(x, x, 0, 2, 4, 6, 0, 2, 4, 6);
  } else if constexpr (lanes<T> == 4) {
    return __builtin_shufflevector(x, x, 0, 2, 0, 2);
  } else {
    return __builtin_shufflevector(x, x, 0, 0);
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
