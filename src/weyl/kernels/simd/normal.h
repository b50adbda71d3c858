// The normal distribution on vectors. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA {

/// exp(-t^2/2), to 1 to 3 units in the last place while it is not far below 1, and no less than 2^-115
/// (float) or 2^-1000 (double): products with it need no denormal numbers, which are slow. NaN stays NaN.
template <class T>
inline Vec<T> bell_of(Vec<T> t) {
  using F = Format<T>;
  constexpr T lowest = sizeof(T) == 4 ? T(-115) : T(-1000);
  Vec<T> x = t * t * T(-0.72134752044448170368);  // of two
  x = x < lowest ? spread(lowest) : x;
  const Vec<T> shifted = x + F::rounder;
  const Vec<T> r = x - (shifted - F::rounder);
  Vec<T> e;  // 2^r by its Taylor series, |r| <= 1/2
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {
        1.5252733804059838e-5f, 1.5403530393381606e-4f, 1.3333558146428441e-3f, 9.618129107628477e-3f,
        5.550410866482157e-2f,  2.402265069591007e-1f,  6.931471805599453e-1f,  1.0f};
    e = polynomial<float>(c, r);
  } else {
    constexpr double c[] = {1.3691488853904124e-12, 2.5678435993488196e-11,
                            4.4455382718708103e-10, 7.0549116208011209e-9,
                            1.0178086009239696e-7,  1.3215486790144303e-6,
                            1.5252733804059837e-5,  1.5403530393381606e-4,
                            1.3333558146428441e-3,  9.6181291076284769e-3,
                            5.5504108664821576e-2,  2.4022650695910069e-1,
                            6.9314718055994529e-1,  1.0};
    e = polynomial<double>(c, r);
  }
  Bits<T> power;
  __builtin_memcpy(&power, &shifted, sizeof power);  // its low bits are the integer
  power = (power + F::bias) << F::mantissa;
  Vec<T> scale;
  __builtin_memcpy(&scale, &power, sizeof scale);
  return e * scale;
}

/// P(t) = (1 + erf(t/sqrt 2))/2 and exp(-t^2/2). The exact GELU has value t P and derivative
/// P + t exp(-t^2/2)/sqrt(2 pi).
template <class T>
inline Vec<T> normal_cdf(Vec<T> t, Vec<T>& bell) {
  const Vec<T> size = t < T(0) ? -t : t;
  bell = bell_of<T>(t);
  const Vec<T> tail = scaled_erfc<T>(size * T(0.70710678118654752440)) * bell * T(0.5);
  return t < T(0) ? tail : T(1) - tail;
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
