// Versors of G(3,0,1): reflections in planes, and the even ones, motors, which are rotations, translations and their
// products. All act by `sandwich`; u and -u are the same motion. Vectors are (x, y, z) in the data's unit of length,
// quaternions (x, y, z, w), angles in radians.
#pragma once

#include "weyl/algebra/clifford/multivector.h"
#include "weyl/algebra/lie/series.h"
#include "weyl/algebra/lie/so3.h"

namespace weyl::clifford {

/// p -> p + t: 1 - t_i e0i / 2.
template <class T>
Multivector<T> translation(const Vector<T, 3>& t) {
  Multivector<T> m = blade(one, T(1));
  for (int i = 0; i < 3; ++i) {
    m[e01 + i] = T(-0.5) * t[i];
  }
  return m;
}
/// p -> R(q) p, active, q a unit quaternion.
template <class T>
Multivector<T> rotation(const Vector<T, 4>& q) {
  Multivector<T> m = zero<T>();
  m[one] = q[3];
  m[e12] = -q[2];
  m[e13] = q[1];
  m[e23] = -q[0];
  return m;
}
/// The mirror in the plane through `through` with the unit normal n; this is the plane itself.
template <class T>
Multivector<T> reflection(const Vector<T, 3>& n, const Vector<T, 3>& through) {
  Multivector<T> u = zero<T>();
  u[e0] = -dot(n, through);
  for (int i = 0; i < 3; ++i) {
    u[e1 + i] = n[i];
  }
  return u;
}

/// a b: what b does, then what a does.
template <class T>
Multivector<T> compose(const Multivector<T>& a, const Multivector<T>& b) {
  return geometric_product(a, b);
}
/// p -> R(q) p + t.
template <class T>
Multivector<T> motor(const Vector<T, 4>& q, const Vector<T, 3>& t) {
  return compose(translation(t), rotation(q));
}
/// p -> R p + t of an orthogonal R, to rounding: even where det R = 1; where det R = -1 it is odd, the inversion at the
/// origin (e123), then the rotation by -R. Which of its two signs it gets may jump as R turns.
template <class T>
Multivector<T> versor(const Matrix<T, 3>& R, const Vector<T, 3>& t) {
  const auto mirrors = determinant(R) < T(0);
  const Multivector<T> turn = rotation(numbers::SO3::from_matrix(select(mirrors, T(-1) * R, R)));
  const Multivector<T> inverted = geometric_product(turn, blade(e123, T(1)));
  Multivector<T> u;
  for (int i = 0; i < components; ++i) {
    u[i] = select(mirrors, inverted[i], turn[i]);
  }
  return compose(translation(t), u);
}

/// m m~ = s + p e0123 of an even m: s >= 0 is its squared norm, p is 0 of every multiple of a motor.
template <class T>
struct MotorSquare {
  T s, p;

  explicit MotorSquare(const Multivector<T>& m)
      : s(m[one] * m[one] + m[e12] * m[e12] + m[e13] * m[e13] + m[e23] * m[e23]),
        p(T(2) * (m[one] * m[e0123] - m[e01] * m[e23] + m[e02] * m[e13] - m[e03] * m[e12])) {}
};

/// The motor m (1 - p/(2 s) e0123)/sqrt(s) of an even m, m m~ = s + p e0123. It moves points as m does once they are
/// divided by their e123. NaN or infinity where s = 0: an m without rotation or 1 is no motion, and callers who may
/// meet one look at s first.
template <class T>
Multivector<T> normalise(const Multivector<T>& m) {
  const MotorSquare<T> square(m);
  // m e0123 of the part of m that e0123 does not annihilate.
  const T ratio = T(0.5) * square.p / square.s;
  Multivector<T> y = m;
  y[e01] += ratio * m[e23];
  y[e02] -= ratio * m[e13];
  y[e03] += ratio * m[e12];
  y[e0123] -= ratio * m[one];
  return scaled(T(1) / sqrt_of(square.s), y);
}

/// The quaternion of the rotation R of a motor p -> R p + t; its norm is that of the motor.
template <class T>
Vector<T, 4> rotation_of(const Multivector<T>& m) {
  return {{-m[e23], m[e13], -m[e12], m[one]}};
}
/// t of a motor p -> R p + t, m m~ = 1: where it takes the origin.
template <class T>
Vector<T, 3> translation_of(const Multivector<T>& m) {
  const T minus_two(-2);
  return {{minus_two * (m[one] * m[e01] + m[e12] * m[e02] + m[e13] * m[e03] + m[e23] * m[e0123]),
           minus_two * (m[one] * m[e02] - m[e12] * m[e01] + m[e23] * m[e03] - m[e13] * m[e0123]),
           minus_two * (m[one] * m[e03] - m[e13] * m[e01] - m[e23] * m[e02] + m[e12] * m[e0123])}};
}

/// exp of a bivector B = b + c, b on e12, e13, e23 and c on e01, e02, e03 (other components are not read): the motor of
/// the screw about the line B, by the angle 2 |b|. Entire: finite with all derivatives at b = 0, where it is the
/// translation 1 + c. With y = |b|^2, B B = -y + q e0123, C = cos sqrt y, S = sin(sqrt y)/sqrt y and D = (S - C)/(2 y)
/// = -dS/dy, it is C + S B + (q S/2) e0123 + q D b e0123.
template <class T>
Multivector<T> exp(const Multivector<T>& B) {
  const T y = B[e12] * B[e12] + B[e13] * B[e13] + B[e23] * B[e23];
  const T q = T(2) * (B[e01] * B[e23] - B[e02] * B[e13] + B[e03] * B[e12]);
  const numbers::Entire<T> of(-y);
  constexpr double slopes[] = {1.0 / 6,
                               -2.0 / 120,
                               3.0 / 5040,
                               -4.0 / 362880,
                               5.0 / 39916800,
                               -6.0 / 6227020800,
                               7.0 / 1307674368000,
                               -8.0 / 355687428096000,
                               9.0 / 121645100408832000};
  const auto small = y < T(1);
  const T D = select(small, numbers::power_series<numbers::is_single<T> ? 5 : 9>(slopes, y),
                     (of.S - of.C) / (T(2) * select(small, T(1), y)));
  Multivector<T> m = scaled(of.S, grade(2, B));
  const T qD = q * D;
  m[one] = of.C;
  m[e01] -= qD * B[e23];
  m[e02] += qD * B[e13];
  m[e03] -= qD * B[e12];
  m[e0123] = T(0.5) * q * of.S;
  return m;
}

/// The bivector B of the shorter screw that does what the motor m does, m m~ = 1: exp(B) is m where m_0 >= 0, else -m.
/// The angle 2 |b| is at most pi; at half turns, the cut, it is one of the two logarithms, which differ in the sign
/// of b. log(exp(B)) = B for |b| < pi/2. Finite with all derivatives at the identity and at translations.
template <class T>
Multivector<T> log(const Multivector<T>& m) {
  const auto back = m[one] < T(0);
  const T sign = select(back, T(-1), T(1)), w = sign * m[one];
  const T n2 = m[e12] * m[e12] + m[e13] * m[e13] + m[e23] * m[e23], w2 = w * w;
  const auto small = n2 < T(0.04) * w2;
  const T safe = select(small, w, T(1)), n = sqrt_of(select(small, T(1), n2));
  // f = h/sin h with h = |b|, and g = (1 - h cot h)/sin^2 h.
  const T f = select(small, numbers::arc_series(n2 / (safe * safe)) / safe, atan2_of(n, w) / n);
  const T theta2 = T(4) * f * f * n2;
  const auto less = theta2 < T(numbers::small_angle_squared<T>);
  const T g =
      select(less, T(4) * f * f * numbers::cotangent_series(theta2), (T(1) - f * w) / select(less, T(1), n2));
  Multivector<T> B = scaled(sign * f, grade(2, m));
  const T gz = g * m[e0123];  // the signs of m_15 and of b cancel
  B[e01] += gz * m[e23];
  B[e02] -= gz * m[e13];
  B[e03] += gz * m[e12];
  return B;
}

}  // namespace weyl::clifford
