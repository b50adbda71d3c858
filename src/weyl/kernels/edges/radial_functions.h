#pragma once

#include <cstdint>

namespace weyl::kernels {

/// The functions of a length d that nn/radial_basis.h has.
enum class RadialLaw { exp_normal, bessel, gaussian };

/// K functions of each of the lengths (count), with numbers of each function, and slopes by the length.
///   exp_normal  f(d) exp(-second_k (exp(rate (start - d)) - first_k)^2), the fade f and its slope given for each length
///   bessel      sin(first_k d) / d, and first_k at d = 0
///   gaussian    exp(rate (d - first_k)^2)
template <class T>
struct RadialInput {
  RadialLaw law = RadialLaw::bessel;
  int64_t functions = 0, count = 0;
  const T *lengths = nullptr, *first = nullptr, *second = nullptr;
  const T *fade = nullptr, *fade_slope = nullptr;  // (count), of exp_normal
  T rate = 0, start = 0;
};

template <class T>
struct RadialFunctions {
  /// values and slopes: (count, K)
  void (*run)(const RadialInput<T>& in, T* values, T* slopes);
};

}  // namespace weyl::kernels
