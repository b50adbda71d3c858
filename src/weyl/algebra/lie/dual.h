// Forward-mode dual numbers: a value and its derivatives along n directions, over any number. Nested, they
// give second derivatives.
#pragma once

#include "weyl/algebra/lie/number.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

template <class T, int n>
struct Dual {
  T value;
  T d[n];

  Dual() = default;
  Dual(const T& x) : value(x) {  // NOLINT(google-explicit-constructor): a constant
    for (int i = 0; i < n; ++i) {
      d[i] = T(0);
    }
  }
  template <class U>
    requires(std::is_arithmetic_v<U> && !std::is_same_v<U, T>)
  explicit Dual(U x) : Dual(T(x)) {}

  /// f(x) where `slope` is f'(x).
  static Dual chain(const Dual& x, const T& f, const T& slope) {
    Dual y;
    y.value = f;
    for (int i = 0; i < n; ++i) {
      y.d[i] = slope * x.d[i];
    }
    return y;
  }

  friend Dual operator+(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value + b.value;
    for (int i = 0; i < n; ++i) {
      y.d[i] = a.d[i] + b.d[i];
    }
    return y;
  }
  friend Dual operator-(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value - b.value;
    for (int i = 0; i < n; ++i) {
      y.d[i] = a.d[i] - b.d[i];
    }
    return y;
  }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual y;
    y.value = a.value * b.value;
    for (int i = 0; i < n; ++i) {
      y.d[i] = a.d[i] * b.value + a.value * b.d[i];
    }
    return y;
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const T over = T(1) / b.value;
    Dual y;
    y.value = a.value * over;
    for (int i = 0; i < n; ++i) {
      y.d[i] = (a.d[i] - y.value * b.d[i]) * over;
    }
    return y;
  }
  Dual operator-() const { return Dual(T(0)) - *this; }
  Dual& operator+=(const Dual& b) { return *this = *this + b; }
  Dual& operator-=(const Dual& b) { return *this = *this - b; }
  Dual& operator*=(const Dual& b) { return *this = *this * b; }

  friend auto operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend auto operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
};

template <class T, int n>
struct ScalarOf<Dual<T, n>> {
  using type = Scalar<T>;
};
template <class T, int n>
struct WideOf<Dual<T, n>> {
  using type = Dual<Wide<T>, n>;
};
template <class To, class T, int n>
inline To converted(const Dual<T, n>& x) {
  To y;
  y.value = converted<decltype(y.value)>(x.value);
  for (int i = 0; i < n; ++i) {
    y.d[i] = converted<decltype(y.value)>(x.d[i]);
  }
  return y;
}

template <class Condition, class T, int n>
inline Dual<T, n> select(const Condition& condition, const Dual<T, n>& yes, const Dual<T, n>& no) {
  Dual<T, n> y;
  y.value = select(condition, yes.value, no.value);
  for (int i = 0; i < n; ++i) {
    y.d[i] = select(condition, yes.d[i], no.d[i]);
  }
  return y;
}

template <class T, int n>
inline Dual<T, n> sqrt_of(const Dual<T, n>& x) {
  const T root = sqrt_of(x.value);
  return Dual<T, n>::chain(x, root, T(0.5) / root);
}
template <class T, int n>
inline Dual<T, n> exp_of(const Dual<T, n>& x) {
  const T e = exp_of(x.value);
  return Dual<T, n>::chain(x, e, e);
}
template <class T, int n>
inline Dual<T, n> log_of(const Dual<T, n>& x) {
  return Dual<T, n>::chain(x, log_of(x.value), T(1) / x.value);
}
template <class T, int n>
inline Dual<T, n> log1p_of(const Dual<T, n>& x) {
  return Dual<T, n>::chain(x, log1p_of(x.value), T(1) / (T(1) + x.value));
}
template <class T, int n>
inline Dual<T, n> atan2_of(const Dual<T, n>& y, const Dual<T, n>& x) {
  const T over = T(1) / (x.value * x.value + y.value * y.value);
  Dual<T, n> angle;
  angle.value = atan2_of(y.value, x.value);
  for (int i = 0; i < n; ++i) {
    angle.d[i] = (x.value * y.d[i] - y.value * x.d[i]) * over;
  }
  return angle;
}
template <class T, int n>
inline void sincos_of(const Dual<T, n>& x, Dual<T, n>& sine, Dual<T, n>& cosine) {
  T s, c;
  sincos_of(x.value, s, c);
  sine = Dual<T, n>::chain(x, s, c);
  cosine = Dual<T, n>::chain(x, c, -s);
}
template <class T, int n>
inline Dual<T, n> difference_of_products(const Dual<T, n>& a, const Dual<T, n>& b, const Dual<T, n>& c,
                                         const Dual<T, n>& d) {
  Dual<T, n> y = a * b - c * d;
  y.value = difference_of_products(a.value, b.value, c.value, d.value);
  return y;
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
