// The part of attention's logits that is a distance of trivectors, with its first and second derivatives. Included by
// kernel files alone (see simd/simd.h).
#pragma once

#include "weyl/algebra/clifford/blades.h"
#include "weyl/kernels/simd/simd.h"

namespace weyl::kernels {
namespace WEYL_ISA {

using clifford::components;

inline constexpr int trivector = clifford::e012;  // and the three behind it

/// 16 vectors, one a component.
template <class T>
struct Channels {
  Vec<T> at[components];
};
// The distance part is of A = p |t|^2, B = s and P = r t with p = n^2, r = p v, s = p v^2, n = v / (v^2 + epsilon),
// t the first three components of the trivector and v its last. Queries are w (A, B, P), keys (-B, -A, 2 P).
template <class T>
struct Laws {
  Laws(Vec<T> v, T epsilon) {
    const Vec<T> square = v * v, d = T(1) / (square + epsilon), d2 = d * d;
    q = square * d;
    p = q * d;
    r = p * v;
    s = q * q;
    p1 = v * d2 * (T(2) - 4 * q);
    r1 = q * d * (T(3) - 4 * q);
    s1 = v * q * d * (T(4) - 4 * q);
    p2 = d2 * (T(2) - q * (T(20) - 24 * q));
    r2 = v * d2 * (T(6) - q * (T(28) - 24 * q));
    s2 = q * d * (T(12) - q * (T(36) - 24 * q));
  }
  Vec<T> q, p, r, s, p1, r1, s1, p2, r2, s2;
};

/// A, B, P.
template <class T>
struct Parts {
  Vec<T> a, b, p[3];
};
template <class T>
inline Vec<T> dot(const Parts<T>& x, const Parts<T>& y) {
  return x.a * y.a + x.b * y.b + x.p[0] * y.p[0] + x.p[1] * y.p[1] + x.p[2] * y.p[2];
}
template <class T>
inline Parts<T> mixed(const Parts<T>& x, Vec<T> of_x, const Parts<T>& y, Vec<T> of_y) {
  return {x.a * of_x + y.a * of_y,
          x.b * of_x + y.b * of_y,
          {x.p[0] * of_x + y.p[0] * of_y, x.p[1] * of_x + y.p[1] * of_y, x.p[2] * of_x + y.p[2] * of_y}};
}

template <class T>
struct Trivector {
  explicit Trivector(const Channels<T>& x)
      : t{x.at[trivector], x.at[trivector + 1], x.at[trivector + 2]}, v(x.at[trivector + 3]) {}
  Vec<T> dot(const Vec<T>* other) const { return t[0] * other[0] + t[1] * other[1] + t[2] * other[2]; }
  Vec<T> t[3], v;
};

template <class T>
inline Parts<T> values(const Trivector<T>& x, const Laws<T>& l) {
  return {l.p * x.dot(x.t), l.s, {l.r * x.t[0], l.r * x.t[1], l.r * x.t[2]}};
}
/// How A, B and P move with x in the direction d.
template <class T>
inline Parts<T> motion(const Trivector<T>& x, const Laws<T>& l, const Trivector<T>& d) {
  const Vec<T> r1 = l.r1 * d.v;
  return {2 * l.p * x.dot(d.t) + l.p1 * d.v * x.dot(x.t),
          l.s1 * d.v,
          {l.r * d.t[0] + r1 * x.t[0], l.r * d.t[1] + r1 * x.t[1], l.r * d.t[2] + r1 * x.t[2]}};
}
/// The gradient of <g, (A, B, P)>, added to gx.
template <class T>
inline void add_gradient(const Trivector<T>& x, const Laws<T>& l, const Parts<T>& g, Channels<T>& gx) {
  for (int i = 0; i < 3; ++i) {
    gx.at[trivector + i] += 2 * g.a * l.p * x.t[i] + l.r * g.p[i];
  }
  gx.at[trivector + 3] += g.a * l.p1 * x.dot(x.t) + g.b * l.s1 + l.r1 * x.dot(g.p);
}
/// The gradient of <g, motion(x, d)> by x, added to gx.
template <class T>
inline void add_second(const Trivector<T>& x, const Laws<T>& l, const Parts<T>& g, const Trivector<T>& d,
                       Channels<T>& gx) {
  Vec<T> along{};
  for (int i = 0; i < 3; ++i) {
    const Vec<T> of_v = 2 * g.a * l.p1 * x.t[i] + l.r1 * g.p[i];
    gx.at[trivector + i] += 2 * g.a * l.p * d.t[i] + d.v * of_v;
    along += d.t[i] * of_v;
  }
  gx.at[trivector + 3] += along + d.v * (g.a * l.p2 * x.dot(x.t) + g.b * l.s2 + l.r2 * x.dot(g.p));
}

}  // namespace WEYL_ISA
}  // namespace weyl::kernels
