// Power series and the coefficients of rotations, finite and differentiable at 0.
#pragma once

#include "weyl/algebra/lie/number.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// c[0] + c[1] x + ... + c[terms - 1] x^(terms - 1).
template <int terms, class T, int n>
inline T power_series(const double (&c)[n], const T& x) {
  static_assert(terms <= n);
  T y(c[terms - 1]);
  for (int k = terms - 2; k >= 0; --k) {
    y = y * x + T(c[k]);
  }
  return y;
}

template <int first, int terms>
struct ReciprocalFactorials {
  double c[terms] = {};
  constexpr ReciprocalFactorials() {
    double f = 1;
    for (int i = 2; i <= first; ++i) {
      f *= i;
    }
    for (int k = 0; k < terms; ++k) {
      c[k] = 1 / f;
      f *= static_cast<double>(2 * k + first + 1) * (2 * k + first + 2);
    }
  }
};

/// sum over k < terms of y^k / (2k + first)!: with y = -x^2, cos x (first 0), sin(x)/x (1),
/// (1 - cos x)/x^2 (2), (x - sin x)/x^3 (3), (cos x - 1 + x^2/2)/x^4 (4), (sin x - x + x^3/6)/x^5 (5); with
/// y = x^2 the hyperbolic ones.
template <int first, int terms, class T>
inline T factorial_series(const T& y) {
  static constexpr ReciprocalFactorials<first, terms> table;
  return power_series<terms>(table.c, y);
}

/// atan(x)/x as a function of y = x^2 < 0.04: truncated at 4e-10 (float), 7e-19 (double).
template <class T>
inline T arc_series(const T& y) {
  constexpr double c[] = {1,        -1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11,
                          1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23};
  return power_series<is_single<T> ? 6 : 12>(c, y);
}

/// (1 - (x/2) cot(x/2))/x^2 as a function of y = x^2: sum |B_{2k+2}| y^k / (2k+2)!.
template <class T>
inline T cotangent_series(const T& y) {
  constexpr double c[] = {1.0 / 12,          1.0 / 720,
                          1.0 / 30240,       1.0 / 1209600,
                          1.0 / 47900160,    691.0 / 1307674368000,
                          1.0 / 74724249600, 3617.0 / 10670622842880000};
  return power_series<is_single<T> ? 5 : 8>(c, y);
}

/// Below it, of theta^2, the series stand for A, B and b.
template <class T>
inline constexpr double small_angle_squared = is_single<T> ? 1.0 : 0.25;

/// Numbers of a rotation by theta, from theta^2: quaternion (half omega, cos h), h = theta/2, half = sin(h)/theta;
/// V = 1 + A Omega + B Omega^2, V^-1 = 1 - Omega/2 + b Omega^2.
template <class T>
struct Rodrigues {
  T half, cos_half, A, B, b;

  explicit Rodrigues(const T& theta2) {
    const auto small = theta2 < T(small_angle_squared<T>);
    const T safe = select(small, T(1), theta2), theta = sqrt_of(safe);
    T s, c;
    sincos_of(T(0.5) * theta, s, c);
    constexpr int terms = is_single<T> ? 5 : 7;
    const T y = -theta2, quarter = T(0.25) * y, over = T(1) / theta, sinc = s * over;
    half = select(small, T(0.5) * factorial_series<1, terms>(quarter), sinc);
    cos_half = select(small, factorial_series<0, terms + 1>(quarter), c);
    A = select(small, factorial_series<2, terms>(y), T(2) * sinc * sinc);
    B = select(small, factorial_series<3, terms>(y), (theta - T(2) * s * c) * (over * over * over));
    b = select(small, cotangent_series(theta2), (T(1) - T(0.5) * theta * c / s) * (over * over));
  }
};

/// Below it, of theta^2, the series stand for the two that follow.
inline constexpr double moderate_angle_squared = 4;
/// (cos x - 1 + x^2/2)/x^4 = (1/2 - A)/x^2 and (sin x - x + x^3/6)/x^5 = (1/6 - B)/x^2, x^2 = theta2.
template <class T>
inline T fourth_order(const T& theta2, const T& A) {
  const auto small = theta2 < T(moderate_angle_squared);
  return select(small, factorial_series<4, is_single<T> ? 6 : 12>(-theta2),
                (T(0.5) - A) / select(small, T(1), theta2));
}
template <class T>
inline T fifth_order(const T& theta2, const T& B) {
  const auto small = theta2 < T(moderate_angle_squared);
  return select(small, factorial_series<5, is_single<T> ? 6 : 12>(-theta2),
                (T(1.0 / 6) - B) / select(small, T(1), theta2));
}

/// C(z) = cosh sqrt(z) = cos sqrt(-z) and S(z) = sinh(sqrt z)/sqrt z = sin(sqrt -z)/sqrt -z: entire.
template <class T>
struct Entire {
  T C, S;

  explicit Entire(const T& z) {
    const T size = abs_of(z);
    const auto small = size < T(1);
    const T x = sqrt_of(select(small, T(1), size)), e = exp_of(select(z > T(0), x, T(0))), f = T(1) / e;
    T s, c;
    sincos_of(x, s, c);
    constexpr int terms = is_single<T> ? 6 : 10;
    const auto grows = z > T(0);
    C = select(small, factorial_series<0, terms>(z), select(grows, T(0.5) * (e + f), c));
    S = select(small, factorial_series<1, terms>(z), select(grows, T(0.5) * (e - f), s) / x);
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
