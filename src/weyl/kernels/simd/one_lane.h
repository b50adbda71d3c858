// What simd.h says of vectors, for a thread of a GPU: a vector is one number. So the text of a kernel file is that of its
// kernel for CUDA too. Functions are constexpr: nvcc takes such ones for the device (--expt-relaxed-constexpr).
#pragma once

#include <cstdint>

namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
using Vec = T;
template <class T>
inline constexpr int64_t lanes = 1;

template <class T>
constexpr T load(const T* p) {
  return *p;
}
template <class T>
constexpr void store(T* p, T v) {
  *p = v;
}
template <class T>
constexpr T spread(T x) {
  return x;
}
template <class T>
constexpr T load_part(const T* p, int64_t count, T fill = 0) {
  return count > 0 ? *p : fill;
}
template <class T>
constexpr void store_part(T* p, T v, int64_t count) {
  if (count > 0) {
    *p = v;
  }
}
template <class T>
constexpr T get(const T* p, int64_t) {
  return *p;
}
template <class T>
constexpr void put(T* p, T v, int64_t) {
  *p = v;
}
template <class T>
constexpr T sum_of(T v) {
  return v;
}

/// The square root, in the type that it is asked in.
template <class T>
constexpr T root_of(T x) {
  return ::sqrt(x);
}
template <class T>
constexpr T exp_of(T x) {
  return ::exp(x);
}

/// f(i) for first <= i < last, shared out among all threads of the grid.
template <class F>
constexpr void each_row(int64_t first, int64_t last, const F& f) {
#ifdef __CUDA_ARCH__
  const int64_t threads = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = first + int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < last; i += threads) {
    f(i);
  }
#endif
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
