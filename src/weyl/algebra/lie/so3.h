// SO(3): unit quaternions (x, y, z, w). Algebra: the axis times the angle, omega.
#pragma once

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/algebra/lie/matrix.h"
#include "weyl/algebra/lie/series.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

struct SO3 {
  static constexpr LieGroup group = LieGroup::so3;
  static constexpr int dimension = 3, dof = 3, compact = 4, matrix = 3;
  template <class T>
  using Element = Vector<T, 4>;
  template <class T>
  using Tangent = Vector<T, 3>;

  template <class T>
  static Vector<T, 3> imaginary(const Element<T>& q) {
    return {{q[0], q[1], q[2]}};
  }

  template <class T>
  static Element<T> identity() {
    return {{T(0), T(0), T(0), T(1)}};
  }
  template <class T>
  static Element<T> compose(const Element<T>& a, const Element<T>& b) {
    return {{a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
             a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
             a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
             a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]}};
  }
  template <class T>
  static Element<T> inverse(const Element<T>& q) {
    return {{-q[0], -q[1], -q[2], q[3]}};
  }
  template <class T>
  static Element<T> anchor(const Element<T>& q) {
    return q;
  }
  template <class T>
  static Element<T> from_anchor(const Element<T>& a, const Element<T>& b) {
    return compose(inverse(a), b);
  }
  /// R v = v + 2 u x (u x v + w v), u the imaginary part; |q| = 1.
  template <class T>
  static Vector<T, 3> act(const Element<T>& q, const Vector<T, 3>& v) {
    const Vector<T, 3> u = imaginary(q);
    return v + T(2) * cross(u, cross(u, v) + q[3] * v);
  }
  template <class T>
  static Vector<T, 3> act_inverse(const Element<T>& q, const Vector<T, 3>& v) {
    return act(inverse(q), v);
  }
  template <class T>
  static Element<T> exp(const Tangent<T>& w) {
    const Rodrigues<T> k(dot(w, w));
    return {{k.half * w[0], k.half * w[1], k.half * w[2], k.cos_half}};
  }

  /// The logarithm and, for V^-1, h cot h (h half the angle) and b = (1 - h cot h)/theta^2. All depend on
  /// the direction of q alone, not on its norm.
  template <class T>
  struct Logarithm {
    Tangent<T> w;
    T cotangent, b;

    explicit Logarithm(const Element<T>& q) {
      const auto back = q[3] < T(0);
      const T real = select(back, -q[3], q[3]);
      const Vector<T, 3> u = imaginary(q);
      const T n2 = dot(u, u), w2 = real * real;
      const auto small = n2 < T(0.04) * w2;
      const T safe = select(small, real, T(1)), n = sqrt_of(select(small, T(1), n2));
      const T factor =
          T(2) * select(small, arc_series(n2 / (safe * safe)) / safe, atan2_of(n, real) / n);  // theta/n
      w = select(back, -factor, factor) * u;
      cotangent = T(0.5) * factor * real;
      const T theta2 = factor * factor * n2;
      const auto less = theta2 < T(small_angle_squared<T>);
      b = select(less, cotangent_series(theta2), (T(1) - cotangent) / select(less, T(1), theta2));
    }
  };
  template <class T>
  static Tangent<T> log(const Element<T>& q) {
    return Logarithm<T>(q).w;
  }
  /// pi - theta, without cancellation.
  template <class T>
  static T margin(const Element<T>& q) {
    const Vector<T, 3> u = imaginary(q);
    const T n2 = dot(u, u), tiny = T(1e-30);
    return T(2) * atan2_of(abs_of(q[3]), sqrt_of(select(n2 < tiny, tiny, n2)));
  }

  /// V^-1 x = x - omega x x / 2 + b omega x (omega x x); its transpose is that of -omega.
  template <class T>
  static Vector<T, 3> integral_inverse(const Tangent<T>& w, const T& b, const Vector<T, 3>& x) {
    const Vector<T, 3> y = cross(w, x);
    return x - T(0.5) * y + b * cross(w, y);
  }
  template <class T>
  static Vector<T, 3> integral(const Tangent<T>& w, const Rodrigues<T>& k, const Vector<T, 3>& x) {
    const Vector<T, 3> y = cross(w, x);
    return x + k.A * y + k.B * cross(w, y);
  }
  template <class T>
  static Tangent<T> left_inverse_transposed(const Tangent<T>& w, const Tangent<T>& g) {
    return integral_inverse(-w, Rodrigues<T>(dot(w, w)).b, g);
  }
  template <class T>
  static Matrix<T, 3> left_jacobian(const Tangent<T>& w) {
    const Rodrigues<T> k(dot(w, w));
    const Matrix<T, 3> O = hat(w);
    return diagonal<T, 3>(T(1)) + k.A * O + k.B * (O * O);
  }
  template <class T>
  static Matrix<T, 3> left_jacobian_inverse(const Tangent<T>& w) {
    const Rodrigues<T> k(dot(w, w));
    const Matrix<T, 3> O = hat(w);
    return diagonal<T, 3>(T(1)) - T(0.5) * O + k.b * (O * O);
  }
  template <class T>
  static Matrix<T, 3> adjoint(const Element<T>& q) {
    return to_matrix(q);
  }
  template <class T>
  static Matrix<T, 3> hat(const Tangent<T>& w) {
    return {{{T(0), -w[2], w[1]}, {w[2], T(0), -w[0]}, {-w[1], w[0], T(0)}}};
  }
  template <class T>
  static Tangent<T> vee(const Matrix<T, 3>& X) {
    return {{T(0.5) * (X[2][1] - X[1][2]), T(0.5) * (X[0][2] - X[2][0]), T(0.5) * (X[1][0] - X[0][1])}};
  }
  template <class T>
  static Matrix<T, 3> to_matrix(const Element<T>& q) {
    const T &x = q[0], &y = q[1], &z = q[2], &w = q[3];
    const T two(2);
    return {{{T(1) - two * (y * y + z * z), two * (x * y - z * w), two * (x * z + y * w)},
             {two * (x * y + z * w), T(1) - two * (x * x + z * z), two * (y * z - x * w)},
             {two * (x * z - y * w), two * (y * z + x * w), T(1) - two * (x * x + y * y)}}};
  }
  /// The quaternion of the nearest rotation, to the square of how far `m` is from one, which must be rounding.
  template <class T>
  static Element<T> from_matrix(const Matrix<T, 3>& m) {
    const T trace3 = m[0][0] + m[1][1] + m[2][2];
    const T xx = T(1) + m[0][0] - m[1][1] - m[2][2], yy = T(1) - m[0][0] + m[1][1] - m[2][2];
    const T zz = T(1) - m[0][0] - m[1][1] + m[2][2], ww = T(1) + trace3;
    const T xy = m[0][1] + m[1][0], xz = m[0][2] + m[2][0], yz = m[1][2] + m[2][1];
    const T xw = m[2][1] - m[1][2], yw = m[0][2] - m[2][0], zw = m[1][0] - m[0][1];
    const Element<T> columns[4] = {
        {{xx, xy, xz, xw}}, {{xy, yy, yz, yw}}, {{xz, yz, zz, zw}}, {{xw, yw, zw, ww}}};
    Element<T> best = columns[3];
    T largest = ww;
    for (int i = 0; i < 3; ++i) {
      const auto better = columns[i][i] > largest;
      largest = select(better, columns[i][i], largest);
      best = select(better, columns[i], best);
    }
    // The columns of a rotation are those of 4 q q^T. Those of a rounded one: their dominant eigenvector is the
    // nearest rotation, which turns with the matrix, as a column does not: one power iteration (Davenport).
    const Element<T> q = exactly_normalised(best);
    Element<T> nearest;
    for (int i = 0; i < 4; ++i) {
      nearest[i] = columns[0][i] * q[0] + columns[1][i] * q[1] + columns[2][i] * q[2] + columns[3][i] * q[3];
    }
    return exactly_normalised(nearest);
  }
  template <class T>
  static Element<T> normalised(const Element<T>& q) {
    return T(0.5) * (T(3) - dot(q, q)) * q;
  }
  template <class T>
  static Element<T> exactly_normalised(const Element<T>& q) {
    return (T(1) / sqrt_of(dot(q, q))) * q;
  }
  /// As SO2::compact_gradient: g exp(e) = q + q (e, 0)/2, so the gradient is 2 q (g, 0)/|q|^2.
  template <class T>
  static Element<T> compact_gradient(const Element<T>& q, const Tangent<T>& by_tangent) {
    const T scale = T(2) / dot(q, q);
    return scale * compose<T>(q, {{by_tangent[0], by_tangent[1], by_tangent[2], T(0)}});
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
