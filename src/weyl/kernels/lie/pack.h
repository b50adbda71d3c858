// Vectors of the instruction set as numbers (see number.h). Included by kernel files alone: a header that
// other files include must not depend on the length of a vector (see simd.h).
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "weyl/algebra/lie/number.h"
#include "weyl/kernels/simd/elementary.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// One truth value a lane.
template <class S>
struct Mask {
  Bits<S> bits;

  friend Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
  friend Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
  Mask operator!() const { return {~bits}; }
};

template <class S>
struct Pack {
  static constexpr int lanes = vector_bytes / static_cast<int>(sizeof(S));
  Vec<S> v;

  Pack() = default;
  explicit Pack(Vec<S> x) : v(x) {}
  template <class U>
    requires std::is_arithmetic_v<U>
  Pack(U x) : v(spread(static_cast<S>(x))) {}  // NOLINT(google-explicit-constructor): a constant

  friend Pack operator+(Pack a, Pack b) { return Pack(a.v + b.v); }
  friend Pack operator-(Pack a, Pack b) { return Pack(a.v - b.v); }
  friend Pack operator*(Pack a, Pack b) { return Pack(a.v * b.v); }
  friend Pack operator/(Pack a, Pack b) { return Pack(a.v / b.v); }
  Pack operator-() const { return Pack(-v); }
  Pack& operator+=(Pack b) { return *this = *this + b; }
  Pack& operator-=(Pack b) { return *this = *this - b; }
  Pack& operator*=(Pack b) { return *this = *this * b; }
  friend Mask<S> operator<(Pack a, Pack b) { return {a.v < b.v}; }
  friend Mask<S> operator>(Pack a, Pack b) { return {a.v > b.v}; }
};

template <class S>
struct ScalarOf<Pack<S>> {
  using type = S;
};

template <class S>
inline Pack<S> select(Mask<S> condition, Pack<S> yes, Pack<S> no) {
  return Pack<S>(condition.bits ? yes.v : no.v);
}
template <class S>
inline bool any(Mask<S> condition) {
  const Bits<S> bits = condition.bits;
  int64_t words[vector_bytes / 8], all = 0;
  __builtin_memcpy(words, &bits, sizeof words);
  for (const int64_t word : words) {
    all |= word;
  }
  return all != 0;
}

template <class S>
inline Pack<S> sqrt_of(Pack<S> x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(S) == 4) {
    return Pack<S>(Vec<S>(_mm512_maskz_sqrt_ps(0xffff, __m512(x.v))));
  } else {
    return Pack<S>(Vec<S>(_mm512_maskz_sqrt_pd(0xff, __m512d(x.v))));
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(S) == 4) {
    return Pack<S>(Vec<S>(_mm256_sqrt_ps(__m256(x.v))));
  } else {
    return Pack<S>(Vec<S>(_mm256_sqrt_pd(__m256d(x.v))));
  }
#elif defined(__SSE2__)
  if constexpr (sizeof(S) == 4) {
    return Pack<S>(Vec<S>(_mm_sqrt_ps(__m128(x.v))));
  } else {
    return Pack<S>(Vec<S>(_mm_sqrt_pd(__m128d(x.v))));
  }
#else
  for (int i = 0; i < Pack<S>::lanes; ++i) {
    x.v[i] = sqrt_of(x.v[i]);
  }
  return x;
#endif
}

/// a b - c d as in number.h. Without a fused multiply-add the rounding errors of the products come from
/// Dekker's split.
template <class S>
inline Pack<S> difference_of_products(Pack<S> a, Pack<S> b, Pack<S> c, Pack<S> d) {
  const Pack<S> w = c * d;
#if defined(__AVX512F__)
  if constexpr (sizeof(S) == 4) {
    const __m512 f = _mm512_fmsub_ps(__m512(a.v), __m512(b.v), __m512(w.v));
    const __m512 e = _mm512_fnmadd_ps(__m512(c.v), __m512(d.v), __m512(w.v));
    return Pack<S>(Vec<S>(f)) + Pack<S>(Vec<S>(e));
  } else {
    const __m512d f = _mm512_fmsub_pd(__m512d(a.v), __m512d(b.v), __m512d(w.v));
    const __m512d e = _mm512_fnmadd_pd(__m512d(c.v), __m512d(d.v), __m512d(w.v));
    return Pack<S>(Vec<S>(f)) + Pack<S>(Vec<S>(e));
  }
#elif defined(__FMA__)
  if constexpr (sizeof(S) == 4) {
    const __m256 f = _mm256_fmsub_ps(__m256(a.v), __m256(b.v), __m256(w.v));
    const __m256 e = _mm256_fnmadd_ps(__m256(c.v), __m256(d.v), __m256(w.v));
    return Pack<S>(Vec<S>(f)) + Pack<S>(Vec<S>(e));
  } else {
    const __m256d f = _mm256_fmsub_pd(__m256d(a.v), __m256d(b.v), __m256d(w.v));
    const __m256d e = _mm256_fnmadd_pd(__m256d(c.v), __m256d(d.v), __m256d(w.v));
    return Pack<S>(Vec<S>(f)) + Pack<S>(Vec<S>(e));
  }
#elif defined(__SSE2__)
  const S splitter = sizeof(S) == 4 ? S(4097) : S(134217729);
  const auto error = [splitter](Pack<S> x, Pack<S> y, Pack<S> product) {
    const Pack<S> x2 = x * splitter, y2 = y * splitter;
    const Pack<S> xh = x2 - (x2 - x), yh = y2 - (y2 - y), xl = x - xh, yl = y - yh;
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
  };
  const Pack<S> p = a * b;
  return (p - w) + (error(a, b, p) - error(c, d, w));
#else
  Pack<S> y;
  for (int i = 0; i < Pack<S>::lanes; ++i) {
    y.v[i] = difference_of_products(a.v[i], b.v[i], c.v[i], d.v[i]);
  }
  return y;
#endif
}

template <class S>
inline Pack<S> exp_of(Pack<S> x) {
  return Pack<S>(WEYL_ISA::exp_of<S>(x.v));
}
template <class S>
inline void sincos_of(Pack<S> x, Pack<S>& sine, Pack<S>& cosine) {
  WEYL_ISA::sincos_of<S>(x.v, sine.v, cosine.v);
}

/// ln x for normal x > 0, to 1 unit in the last place; 0 for x <= 0 and NaN. x = 2^k (1 + f), s = f/(2 + f),
/// ln(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), R as in FDLIBM.
template <class S>
inline Pack<S> log_of(Pack<S> x) {
  using F = Format<S>;
  constexpr S half_root = S(0.70710678118654752440);
  const Vec<S> positive = x.v > Vec<S>{} ? x.v : spread(S(1));
  Bits<S> bits;
  __builtin_memcpy(&bits, &positive, sizeof bits);
  const Vec<S> start = spread(half_root);
  Bits<S> first;
  __builtin_memcpy(&first, &start, sizeof first);
  const Bits<S> k = (bits - first) >> F::mantissa;
  bits -= k << F::mantissa;
  Vec<S> m;
  __builtin_memcpy(&m, &bits, sizeof m);
  const Vec<S> f = m - S(1), s = f / (f + S(2)), z = s * s, n = __builtin_convertvector(k, Vec<S>);
  const Vec<S> half = f * f * S(0.5);
  if constexpr (sizeof(S) == 4) {
    constexpr float c[] = {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f};
    const Vec<S> tail = s * (half + polynomial<float>(c, z) * z);
    return Pack<S>(n * 6.9313812256e-01f - ((half - (tail + n * 9.0580006145e-06f)) - f));
  } else {
    constexpr double c[] = {1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                            2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                            6.666666666666735130e-01};
    const Vec<S> tail = s * (half + polynomial<double>(c, z) * z);
    return Pack<S>(n * 6.93147180369123816490e-01 - ((half - (tail + n * 1.90821492927058770002e-10)) - f));
  }
}

/// ln(1 + x) for x > -1: the rounding of 1 + x is made good by a factor (Kahan).
template <class S>
inline Pack<S> log1p_of(Pack<S> x) {
  const Pack<S> u = Pack<S>(1) + x;
  const Pack<S> rounded = u - Pack<S>(1);
  const Mask<S> nothing{rounded.v == Vec<S>{}};
  return select(nothing, x, log_of(u) * (x / select(nothing, Pack<S>(1), rounded)));
}

/// The angle of (x, y) in [-pi, pi], to 2 units in the last place; 0 at (0, 0).
template <class S>
inline Pack<S> atan2_of(Pack<S> y, Pack<S> x) {
  const Vec<S> zero{};
  const Vec<S> ax = x.v < zero ? -x.v : x.v, ay = y.v < zero ? -y.v : y.v;
  const Bits<S> steep = ay > ax;
  const Vec<S> low = steep ? ax : ay, larger = steep ? ay : ax;
  const Vec<S> high = larger == zero ? spread(S(1)) : larger;     // NaN stays
  const Bits<S> turned = low > high * S(0.41421356237309504880);  // tan(pi/8)
  const Vec<S> r = (turned ? low - high : low) / (turned ? low + high : high), z = r * r;
  Vec<S> p;
  if constexpr (sizeof(S) == 4) {
    // Chebyshev fits of (1 - atan(r)/r)/r^2 on r^2 <= tan^2(pi/8), errors 2.7e-9 and 5e-18.
    constexpr float c[] = {0.064517188693589580726f, -0.107436683248300981344f, 0.142639497536057240218f,
                           -0.199995403149579693966f, 0.333333317604345559428f};
    p = polynomial<float>(c, z);
  } else {
    constexpr double c[] = {0.0191754047111049336783,  -0.0392304477847930952347, 0.0508540783458948425727,
                            -0.0585814090486632828185, 0.0666451052550893659879,  -0.0769218312537689208952,
                            0.0909090457530648908448,  -0.111111110151870187207,  0.142857142846656807613,
                            -0.199999999999955165451,  0.333333333333333301564};
    p = polynomial<double>(c, z);
  }
  // pi/2 and pi/4 in two parts: the sum keeps the last place.
  constexpr S quarter = S(0.78539816339744830962), half = S(1.57079632679489661923);
  constexpr S quarter_low = S(sizeof(S) == 4 ? -2.18556950e-8 : 3.06161699786838301793e-17);
  constexpr S half_low = S(sizeof(S) == 4 ? -4.37113900e-8 : 6.12323399573676603587e-17);
  Vec<S> angle = r - r * z * p;
  angle = turned ? quarter + (angle + quarter_low) : angle;
  angle = steep ? half - (angle - half_low) : angle;
  angle = x.v < zero ? S(2) * half - (angle - S(2) * half_low) : angle;
  return Pack<S>(y.v < zero ? -angle : angle);
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
