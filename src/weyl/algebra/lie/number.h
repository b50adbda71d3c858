// The numbers that the formulas of the Lie groups run on: float and double here, vectors of them in pack.h,
// dual numbers over any of these in dual.h. A formula never branches on a number: it selects, and guards the
// arguments of the side not taken, so that no derivative is ever 0 * inf.
#pragma once

#include <type_traits>

#include "weyl/core/instruction_set.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// The float or double that a number is made of.
template <class T>
struct ScalarOf {
  using type = T;
};
template <class T>
using Scalar = typename ScalarOf<T>::type;
template <class T>
inline constexpr bool is_single = sizeof(Scalar<T>) == 4;

/// The same kind of number in double: what the affine groups of space compute in.
template <class T>
struct WideOf {
  using type = T;
};
template <>
struct WideOf<float> {
  using type = double;
};
template <class T>
using Wide = typename WideOf<T>::type;
template <class To, class From>
  requires std::is_arithmetic_v<From>
inline To converted(From x) {
  return static_cast<To>(x);
}

template <class T>
  requires std::is_floating_point_v<T>
inline T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}
inline bool any(bool condition) {
  return condition;
}

inline float sqrt_of(float x) {
  return __builtin_sqrtf(x);
}
inline double sqrt_of(double x) {
  return __builtin_sqrt(x);
}
inline float exp_of(float x) {
  return __builtin_expf(x);
}
inline double exp_of(double x) {
  return __builtin_exp(x);
}
inline float log_of(float x) {
  return __builtin_logf(x);
}
inline double log_of(double x) {
  return __builtin_log(x);
}
inline float log1p_of(float x) {
  return __builtin_log1pf(x);
}
inline double log1p_of(double x) {
  return __builtin_log1p(x);
}
inline float atan2_of(float y, float x) {
  return __builtin_atan2f(y, x);
}
inline double atan2_of(double y, double x) {
  return __builtin_atan2(y, x);
}
inline void sincos_of(float x, float& sine, float& cosine) {
  sine = __builtin_sinf(x);
  cosine = __builtin_cosf(x);
}
inline void sincos_of(double x, double& sine, double& cosine) {
  sine = __builtin_sin(x);
  cosine = __builtin_cos(x);
}

/// a b - c d with an error of at most 2 units in the last place of the result, however much cancels (Kahan).
inline float difference_of_products(float a, float b, float c, float d) {
  return static_cast<float>(static_cast<double>(a) * b - static_cast<double>(c) * d);
}
inline double difference_of_products(double a, double b, double c, double d) {
  const double w = c * d;
  return __builtin_fma(a, b, -w) + __builtin_fma(-c, d, w);
}

template <class T>
inline T abs_of(const T& x) {
  return select(x < T(0), -x, x);
}
template <class T>
inline T larger_of(const T& a, const T& b) {
  return select(a < b, b, a);
}
/// ln(u + sqrt(1 + u^2)), for u not small: near 0 the relative error is eps/u.
template <class T>
inline T asinh_of(const T& u) {
  return log_of(u + sqrt_of(T(1) + u * u));
}
/// x^(1/3) for x > 0.
template <class T>
inline T cbrt_of(const T& x) {
  const T y = exp_of(log_of(x) * T(1.0 / 3));
  return y - (y - x / (y * y)) * T(1.0 / 3);
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
