// exp, sin, cos and erfc on vectors. Included by kernel files alone (see simd.h).
#pragma once

#include "weyl/kernels/simd/simd.h"

#if !defined(__CUDACC__)  // which has its own in one_lane.h
namespace weyl::kernels {
namespace WEYL_ISA {

template <class T>
struct Format;
template <>
struct Format<float> {
  static constexpr int32_t mantissa = 23, bias = 127;
  static constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr float lowest = -87.0f, highest = 88.0f;
  static constexpr float exact_angle = 1.2e4f;  // beyond it, angles go to the C library
};
template <>
struct Format<double> {
  static constexpr int64_t mantissa = 52, bias = 1023;
  static constexpr double rounder = 6755399441055744.0;
  static constexpr double lowest = -708.0, highest = 709.0;
  static constexpr double exact_angle = 1e8;
};

/// Horner's rule, highest power first.
template <class T, int n>
inline Vec<T> polynomial(const T (&c)[n], Vec<T> x) {
  Vec<T> y = spread(c[0]);
  for (int i = 1; i < n; ++i) {
    y = y * x + c[i];
  }
  return y;
}

/// exp(x) to 1 to 2 units in the last place; 0 below Format::lowest (and for minus infinity), saturated at
/// Format::highest; NaN stays NaN.
template <class T>
inline Vec<T> exp_of(Vec<T> x) {
  using F = Format<T>;
  Vec<T> y = x < F::highest ? x : (x >= F::highest ? spread(F::highest) : x);
  y = y < F::lowest ? spread(F::lowest) : y;
  const Vec<T> shifted = y * T(1.44269504088896340736) + F::rounder;
  const Vec<T> n = shifted - F::rounder;
  Vec<T> e;
  if constexpr (sizeof(T) == 4) {
    const Vec<T> r = (y - n * T(0.693359375)) - n * T(-2.12194440e-4);
    constexpr float c[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                           4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
    e = polynomial<float>(c, r) * (r * r) + r + T(1);
  } else {
    const Vec<T> r = (y - n * T(6.93145751953125e-1)) - n * T(1.42860682030941723212e-6);
    constexpr double c[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                            1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                            1.0 / 120,        1.0 / 24,        1.0 / 6,        1.0 / 2};
    e = polynomial<double>(c, r) * (r * r) + r + T(1);
  }
  Bits<T> power;
  __builtin_memcpy(&power, &shifted, sizeof power);  // its low bits are the integer n
  power = (power + F::bias) << F::mantissa;
  Vec<T> scale;
  __builtin_memcpy(&scale, &power, sizeof scale);
  e = e * scale;
  return x < F::lowest ? Vec<T>{} : e;
}

/// 1 / (1 + exp(-x))
template <class T>
inline Vec<T> sigmoid_of(Vec<T> x) {
  return T(1) / (T(1) + exp_of<T>(-x));
}

/// sin(x) and cos(x), to 1 to 2 units in the last place for angles up to Format::exact_angle and beyond it as
/// the C library has them.
template <class T>
inline void sincos_of(Vec<T> x, Vec<T>& sine, Vec<T>& cosine) {
  using F = Format<T>;
  const Vec<T> shifted = x * T(0.63661977236758134308) + F::rounder;
  const Vec<T> n = shifted - F::rounder;
  Bits<T> quadrant;
  __builtin_memcpy(&quadrant, &shifted, sizeof quadrant);
  Vec<T> r, s, c;
  if constexpr (sizeof(T) == 4) {
    r = ((x - n * T(1.5703125)) - n * T(4.837512969970703125e-4)) - n * T(7.54978995489188216e-8);
    const Vec<T> z = r * r;
    constexpr float a[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
    constexpr float b[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
    s = polynomial<float>(a, z) * z * r + r;
    c = polynomial<float>(b, z) * (z * z) - z * T(0.5) + T(1);
  } else {
    r = ((x - n * T(1.57079625129699707031)) - n * T(7.54978941586159635336e-8)) -
        n * T(5.39030285815811905290e-15);
    const Vec<T> z = r * r;
    constexpr double a[] = {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                            2.75573136213857245213e-6,  -1.98412698295895385996e-4,
                            8.33333333332211858878e-3,  -1.66666666666666307295e-1};
    constexpr double b[] = {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                            -2.75573141792967388112e-7,  2.48015872888517045348e-5,
                            -1.38888888888730564116e-3,  4.16666666666665929218e-2};
    s = polynomial<double>(a, z) * z * r + r;
    c = polynomial<double>(b, z) * (z * z) - z * T(0.5) + T(1);
  }
  const Bits<T> odd = (quadrant & 1) != 0;
  const Vec<T> first = odd ? c : s, second = odd ? s : c;
  sine = (quadrant & 2) != 0 ? -first : first;
  cosine = ((quadrant + 1) & 2) != 0 ? -second : second;
  for (int64_t i = 0; i < lanes<T>; ++i) {
    if (!(x[i] <= F::exact_angle && x[i] >= -F::exact_angle)) [[unlikely]] {
      sine[i] = static_cast<T>(__builtin_sin(static_cast<double>(x[i])));
      cosine[i] = static_cast<T>(__builtin_cos(static_cast<double>(x[i])));
    }
  }
}

/// erfc(|z|) exp(z^2) for z = |z| up to 11 (float) or 27 (double): u P(u), u = 1/(1 + 0.35 z), P fitted by
/// Chebyshev interpolation in 40 digits, relative error 6e-9 and 1.4e-16 before rounding.
template <class T>
inline Vec<T> scaled_erfc(Vec<T> z) {
  const Vec<T> u = T(1) / (z * T(0.35) + T(1));
  if constexpr (sizeof(T) == 4) {
    constexpr float c[] = {3.87632643862472497e-2f,  -1.61363345219473594e-1f, 1.88392268049325496e-1f,
                           -3.87072703052732619e-2f, 9.77663565377155846e-2f,  1.39339563825008494e-1f,
                           1.53853189485890740e-1f,  1.87250070350607771e-1f,  1.97227273642052546e-1f,
                           1.97478634905128921e-1f};
    return polynomial<float>(c, u) * u;
  } else {
    constexpr double c[] = {0.00411079798323890847, -0.0456887589889214172, 0.232103090359875471,
                            -0.710388746601808627,  1.45467704031945163,    -2.09953661511366469,
                            2.21111594659969993,    -1.76400340001785393,   1.11097724310298611,
                            -0.550254406591125316,  0.206525042447508589,   -0.0810512952346490031,
                            0.0129904883824595528,  0.0129940321057814517,  0.0492555584381843076,
                            0.0875619870272370607,  0.12712624685627781,    0.161181480958355708,
                            0.185371560043468838,   0.197466353674388124,   0.197466354249109621};
    return polynomial<double>(c, u) * u;
  }
}

/// ln x as the C library has it.
inline float log_of(float x) {
  return __builtin_logf(x);
}
inline double log_of(double x) {
  return __builtin_log(x);
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels

#endif
