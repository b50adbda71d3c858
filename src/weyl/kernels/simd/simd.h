// Vectors of the instruction set that a kernel file is compiled for. A kernel file is compiled once for each
// (see kernels/CMakeLists.txt). Everything in it lives in a namespace of that name, WEYL_ISA, so that no function of
// one is ever linked in place of another's, and what no other file needs in an unnamed namespace inside that one.
// Nothing of the standard library runs there, for the same reason: only headers that hold types and constants are
// included, and the C library is called by GCC's builtins. Files whose functions are constexpr are also compiled for CUDA
// (see cuda/launch.h), with vectors of one number.
#pragma once

#if defined(__CUDACC__)
#include "weyl/kernels/simd/one_lane.h"
#else

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>

#include "weyl/core/instruction_set.h"

namespace weyl::kernels {
namespace WEYL_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class T>
struct Lanes;
// NOLINTBEGIN(modernize-use-using): the attribute of a vector stands on a typedef
template <>
struct Lanes<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef int32_t Bits __attribute__((vector_size(vector_bytes)));
};
template <>
struct Lanes<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef int64_t Bits __attribute__((vector_size(vector_bytes)));
};
// NOLINTEND(modernize-use-using)
template <class T>
using Vec = typename Lanes<T>::Vector;
template <class T>
using Bits = typename Lanes<T>::Bits;
template <class T>
inline constexpr int64_t lanes = vector_bytes / static_cast<int64_t>(sizeof(T));

/// The smallest multiple of the vector length that holds n.
template <class T>
inline constexpr int64_t padded(int64_t n) {
  return (n + lanes<T> - 1) / lanes<T> * lanes<T>;
}

template <class T>
inline Vec<T> load(const T* p) {
  Vec<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
inline void store(T* p, Vec<T> v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class T>
inline Vec<T> spread(T x) {
  return x - Vec<T>{};
}
/// The first `count` numbers, 0 <= count <= lanes; the other lanes hold `fill`.
template <class T>
inline Vec<T> load_part(const T* p, int64_t count, T fill = 0) {
#if defined(__AVX512F__)
  const auto mask = _bzhi_u32(~0U, static_cast<unsigned>(count));
  if constexpr (sizeof(T) == 4) {
    return reinterpret_cast<Vec<T> >(
        _mm512_mask_loadu_ps(_mm512_set1_ps(fill), static_cast<__mmask16>(mask), p));
  } else {
    return reinterpret_cast<Vec<T> >(
        _mm512_mask_loadu_pd(_mm512_set1_pd(fill), static_cast<__mmask8>(mask), p));
  }
#else
  Vec<T> v = spread(fill);
  for (int64_t i = 0; i < count; ++i) {
    v[i] = p[i];
  }
  return v;
#endif
}
template <class T>
inline void store_part(T* p, Vec<T> v, int64_t count) {
#if defined(__AVX512F__)
  const auto mask = _bzhi_u32(~0U, static_cast<unsigned>(count));
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask), reinterpret_cast<__m512>(v));
  } else {
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), reinterpret_cast<__m512d>(v));
  }
#else
  for (int64_t i = 0; i < count; ++i) {
    p[i] = v[i];
  }
#endif
}
/// The numbers at p of which `left` are there, at least one: a whole vector, or zeros behind them. `whole` is for
/// callers that know which.
template <class T>
inline Vec<T> get(const T* p, int64_t left) {
  return left >= lanes<T> ? load(p) : load_part(p, left);
}
template <bool whole, class T>
inline Vec<T> get(const T* p, int64_t left) {
  return whole ? load(p) : load_part(p, left);
}
/// As many of them as there is room for, `left`.
template <class T>
inline void put(T* p, Vec<T> v, int64_t left) {
  left >= lanes<T> ? store(p, v) : store_part(p, v, left);
}
template <bool whole, class T>
inline void put(T* p, Vec<T> v, int64_t left) {
  whole ? store(p, v) : store_part(p, v, left);
}

/// f(whole, k, numbers left) for the vectors of a row.
template <class T, class F>
inline void along(int64_t length, const F& f) {
  int64_t k = 0;
  for (; k + lanes<T> <= length; k += lanes<T>) {
    f.template operator()<true>(k, length - k);
  }
  if (k < length) {
    f.template operator()<false>(k, length - k);
  }
}

/// Arrays of numbers: zeros, and a copy of one that does not overlap.
template <class T>
inline void clear(T* p, int64_t count) {
  __builtin_memset(p, 0, static_cast<std::size_t>(count) * sizeof(T));
}
template <class T>
inline void copy(const T* from, int64_t count, T* to) {
  __builtin_memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
}

template <class T>
inline constexpr T infinity = static_cast<T>(__builtin_inf());

template <class T>
inline Vec<T> larger(Vec<T> a, Vec<T> b) {
  return a > b ? a : b;
}

/// f(upper half, lower half) again and again, down to one number.
template <class T, class F>
inline T folded(Vec<T> v, const F& f) {
  if constexpr (lanes<T> == 16) {
    v = f(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15));
    v = f(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7));
    v = f(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3));
    v = f(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  } else if constexpr (lanes<T> == 8) {
    v = f(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 4, 5, 6, 7));
    v = f(v, __builtin_shufflevector(v, v, 2, 3, 2, 3, 2, 3, 2, 3));
    v = f(v, __builtin_shufflevector(v, v, 1, 1, 1, 1, 1, 1, 1, 1));
  } else if constexpr (lanes<T> == 4) {
    v = f(v, __builtin_shufflevector(v, v, 2, 3, 2, 3));
    v = f(v, __builtin_shufflevector(v, v, 1, 1, 1, 1));
  } else {
    v = f(v, __builtin_shufflevector(v, v, 1, 1));
  }
  return v[0];
}
template <class T>
inline T sum_of(Vec<T> v) {
  return folded<T>(v, [](Vec<T> a, Vec<T> b) { return a + b; });
}
template <class T>
inline T largest_of(Vec<T> v) {
  return folded<T>(v, [](Vec<T> a, Vec<T> b) { return larger<T>(a, b); });
}

template <class T>
constexpr T root_of(T x) {
  return static_cast<T>(__builtin_sqrt(static_cast<double>(x)));
}

/// f(i) for first <= i < last.
template <class F>
[[gnu::always_inline]] constexpr void each_row(int64_t first, int64_t last, const F& f) {
  for (int64_t i = first; i < last; ++i) {
    f(i);
  }
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels

#endif
