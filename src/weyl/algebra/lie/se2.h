// SE(2): (x, y, c, s), the motion v -> R v + t. Algebra: (v, theta).
#pragma once

#include "weyl/algebra/lie/so2.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

struct SE2 {
  static constexpr LieGroup group = LieGroup::se2;
  static constexpr int dimension = 2, dof = 3, compact = 4, matrix = 3;
  template <class T>
  using Element = Vector<T, 4>;
  template <class T>
  using Tangent = Vector<T, 3>;

  template <class T>
  static Vector<T, 2> translation(const Element<T>& g) {
    return {{g[0], g[1]}};
  }
  template <class T>
  static Vector<T, 2> rotation(const Element<T>& g) {
    return {{g[2], g[3]}};
  }
  template <class T>
  static Element<T> element(const Vector<T, 2>& t, const Vector<T, 2>& r) {
    return {{t[0], t[1], r[0], r[1]}};
  }

  template <class T>
  static Element<T> identity() {
    return {{T(0), T(0), T(1), T(0)}};
  }
  template <class T>
  static Element<T> compose(const Element<T>& a, const Element<T>& b) {
    return element(SO2::act(rotation(a), translation(b)) + translation(a),
                   SO2::compose(rotation(a), rotation(b)));
  }
  template <class T>
  static Element<T> inverse(const Element<T>& g) {
    return element(-SO2::act_inverse(rotation(g), translation(g)), SO2::inverse(rotation(g)));
  }
  template <class T>
  static Element<T> anchor(const Element<T>& g) {
    return g;
  }
  template <class T>
  static Element<T> from_anchor(const Element<T>& a, const Element<T>& b) {
    return element(SO2::act_inverse(rotation(a), translation(b) - translation(a)),
                   SO2::from_anchor(rotation(a), rotation(b)));
  }
  template <class T>
  static Vector<T, 2> act(const Element<T>& g, const Vector<T, 2>& p) {
    return SO2::act(rotation(g), p) + translation(g);
  }

  /// V = a 1 + b J (J the quarter turn): a = sinc(h) cos h, b = sinc(h) sin h, h = theta/2.
  template <class T>
  static void integral(const T& theta, T& a, T& b) {
    const Rodrigues<T> k(theta * theta);
    const T sinc = T(2) * k.half;
    a = sinc * k.cos_half;
    b = sinc * k.half * theta;
  }
  /// V^-1 = a 1 - theta/2 J, a = h cot h: from (c, s), exact for all angles and 0 at a half-turn.
  template <class T>
  static T cotangent(const Vector<T, 2>& r, const T& theta) {
    const T theta2 = theta * theta;
    const auto small = theta2 < T(small_angle_squared<T>);
    // cot(theta/2) = sin/(1 - cos) = (1 + cos)/sin: the side that does not cancel.
    const auto back = r[0] < T(0);
    const T top = select(back, r[1], T(1) + r[0]), bottom = select(back, T(1) - r[0], r[1]);
    return select(small, T(1) - theta2 * cotangent_series(theta2),
                  T(0.5) * theta * top / select(small, T(1), bottom));
  }
  template <class T>
  static T cotangent(const T& theta) {
    const T theta2 = theta * theta;
    return T(1) - theta2 * Rodrigues<T>(theta2).b;
  }

  template <class T>
  static Element<T> exp(const Tangent<T>& w) {
    T a, b;
    integral(w[2], a, b);
    return element<T>({{a * w[0] - b * w[1], b * w[0] + a * w[1]}}, SO2::exp<T>({{w[2]}}));
  }
  template <class T>
  static Tangent<T> log(const Element<T>& g) {
    const T theta = SO2::log(rotation(g))[0], a = cotangent(rotation(g), theta), h = T(0.5) * theta;
    return {{a * g[0] + h * g[1], a * g[1] - h * g[0], theta}};
  }
  template <class T>
  static T margin(const Element<T>& g) {
    return SO2::margin(rotation(g));
  }

  /// The last column of J_l: (theta B 1 - A J) v.
  template <class T>
  static Vector<T, 2> coupling(const Rodrigues<T>& k, const Tangent<T>& w) {
    const T d = w[2] * k.B;
    return {{d * w[0] + k.A * w[1], d * w[1] - k.A * w[0]}};
  }
  template <class T>
  static Tangent<T> left_inverse_transposed(const Tangent<T>& w, const Tangent<T>& g) {
    const Rodrigues<T> k(w[2] * w[2]);
    const T a = T(1) - w[2] * w[2] * k.b, h = T(0.5) * w[2];
    const Vector<T, 2> top{{a * g[0] - h * g[1], a * g[1] + h * g[0]}};
    return {{top[0], top[1], g[2] - dot(coupling(k, w), top)}};
  }
  template <class T>
  static Matrix<T, 3> left_jacobian(const Tangent<T>& w) {
    T a, b;
    integral(w[2], a, b);
    const Vector<T, 2> q = coupling(Rodrigues<T>(w[2] * w[2]), w);
    return {{{a, -b, q[0]}, {b, a, q[1]}, {T(0), T(0), T(1)}}};
  }
  template <class T>
  static Matrix<T, 3> left_jacobian_inverse(const Tangent<T>& w) {
    const Rodrigues<T> k(w[2] * w[2]);
    const T a = T(1) - w[2] * w[2] * k.b, h = T(0.5) * w[2];
    const Vector<T, 2> q = coupling(k, w);
    return {{{a, h, -(a * q[0] + h * q[1])}, {-h, a, -(a * q[1] - h * q[0])}, {T(0), T(0), T(1)}}};
  }
  template <class T>
  static Matrix<T, 3> adjoint(const Element<T>& g) {
    return {{{g[2], -g[3], g[1]}, {g[3], g[2], -g[0]}, {T(0), T(0), T(1)}}};
  }
  template <class T>
  static Matrix<T, 3> hat(const Tangent<T>& w) {
    return {{{T(0), -w[2], w[0]}, {w[2], T(0), w[1]}, {T(0), T(0), T(0)}}};
  }
  template <class T>
  static Tangent<T> vee(const Matrix<T, 3>& X) {
    return {{X[0][2], X[1][2], T(0.5) * (X[1][0] - X[0][1])}};
  }
  template <class T>
  static Matrix<T, 3> to_matrix(const Element<T>& g) {
    return {{{g[2], -g[3], g[0]}, {g[3], g[2], g[1]}, {T(0), T(0), T(1)}}};
  }
  template <class T>
  static Element<T> from_matrix(const Matrix<T, 3>& m) {
    return element<T>({{m[0][2], m[1][2]}}, SO2::from_matrix<T>({{{m[0][0], m[0][1]}, {m[1][0], m[1][1]}}}));
  }
  template <class T>
  static Element<T> normalised(const Element<T>& g) {
    return element(translation(g), SO2::normalised(rotation(g)));
  }
  template <class T>
  static Element<T> exactly_normalised(const Element<T>& g) {
    return element(translation(g), SO2::exactly_normalised(rotation(g)));
  }
  template <class T>
  static Element<T> compact_gradient(const Element<T>& g, const Tangent<T>& by_tangent) {
    const Vector<T, 2> r = SO2::exactly_normalised(rotation(g));
    return element(SO2::act<T>(r, {{by_tangent[0], by_tangent[1]}}),
                   SO2::compact_gradient<T>(rotation(g), {{by_tangent[2]}}));
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
