// SE(3): (t, q), the motion p -> R p + t. Algebra: (v, omega).
#pragma once

#include "weyl/algebra/lie/so3.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

struct SE3 {
  static constexpr LieGroup group = LieGroup::se3;
  static constexpr int dimension = 3, dof = 6, compact = 7, matrix = 4;
  template <class T>
  using Element = Vector<T, 7>;
  template <class T>
  using Tangent = Vector<T, 6>;

  template <class T>
  static Vector<T, 3> translation(const Element<T>& g) {
    return {{g[0], g[1], g[2]}};
  }
  template <class T>
  static Vector<T, 4> rotation(const Element<T>& g) {
    return {{g[3], g[4], g[5], g[6]}};
  }
  template <class T>
  static Element<T> element(const Vector<T, 3>& t, const Vector<T, 4>& q) {
    return {{t[0], t[1], t[2], q[0], q[1], q[2], q[3]}};
  }
  template <class T>
  static Tangent<T> tangent(const Vector<T, 3>& v, const Vector<T, 3>& w) {
    return {{v[0], v[1], v[2], w[0], w[1], w[2]}};
  }
  template <class T>
  static Vector<T, 3> linear(const Tangent<T>& w) {
    return {{w[0], w[1], w[2]}};
  }
  template <class T>
  static Vector<T, 3> angular(const Tangent<T>& w) {
    return {{w[3], w[4], w[5]}};
  }

  template <class T>
  static Element<T> identity() {
    return element(zeros<T, 3>(), SO3::identity<T>());
  }
  template <class T>
  static Element<T> compose(const Element<T>& a, const Element<T>& b) {
    return element(SO3::act(rotation(a), translation(b)) + translation(a),
                   SO3::compose(rotation(a), rotation(b)));
  }
  template <class T>
  static Element<T> inverse(const Element<T>& g) {
    return element(-SO3::act_inverse(rotation(g), translation(g)), SO3::inverse(rotation(g)));
  }
  template <class T>
  static Element<T> anchor(const Element<T>& g) {
    return g;
  }
  template <class T>
  static Element<T> from_anchor(const Element<T>& a, const Element<T>& b) {
    return element(SO3::act_inverse(rotation(a), translation(b) - translation(a)),
                   SO3::from_anchor(rotation(a), rotation(b)));
  }
  template <class T>
  static Vector<T, 3> act(const Element<T>& g, const Vector<T, 3>& p) {
    return SO3::act(rotation(g), p) + translation(g);
  }
  template <class T>
  static Element<T> exp(const Tangent<T>& w) {
    const Vector<T, 3> turn = angular(w);
    const Rodrigues<T> k(dot(turn, turn));
    return element<T>(SO3::integral(turn, k, linear(w)),
                      {{k.half * turn[0], k.half * turn[1], k.half * turn[2], k.cos_half}});
  }
  template <class T>
  static Tangent<T> log(const Element<T>& g) {
    const SO3::Logarithm<T> r(rotation(g));
    return tangent(SO3::integral_inverse(r.w, r.b, translation(g)), r.w);
  }
  template <class T>
  static T margin(const Element<T>& g) {
    return SO3::margin(rotation(g));
  }

  /// The upper right block of J_l times x (Barfoot):
  /// Q = V/2 + B (OV + VO + OVO) + F4 (OOV + VOO - 3 OVO) + (F4 - 3 F5)/2 (OVOO + OOVO),
  /// O and V the cross products with omega and v. The transpose of Q(w) is Q(-w).
  template <class T>
  static Vector<T, 3> coupling(const Rodrigues<T>& k, const Tangent<T>& w, const Vector<T, 3>& x) {
    const Vector<T, 3> v = linear(w), o = angular(w);
    const T theta2 = dot(o, o), f4 = fourth_order(theta2, k.A), f5 = fifth_order(theta2, k.B);
    const Vector<T, 3> ox = cross(o, x), oox = cross(o, ox), vx = cross(v, x), vox = cross(v, ox);
    const Vector<T, 3> ovx = cross(o, vx), ovox = cross(o, vox);
    return T(0.5) * vx + k.B * (ovx + vox + ovox) + f4 * (cross(o, ovx) + cross(v, oox) - T(3) * ovox) +
           T(0.5) * (f4 - T(3) * f5) * cross(o, cross(v, oox) + ovox);
  }
  template <class T>
  static Tangent<T> left_inverse_transposed(const Tangent<T>& w, const Tangent<T>& g) {
    const Vector<T, 3> back = -angular(w);
    const Rodrigues<T> k(dot(back, back));
    const Vector<T, 3> top = SO3::integral_inverse(back, k.b, linear(g));
    return tangent(top, SO3::integral_inverse(back, k.b, angular(g) - coupling(k, -w, top)));
  }
  /// ((P, Q), (0, P)) from the actions of P and Q on the unit vectors.
  template <class T, class P, class Q>
  static Matrix<T, 6> blocks(P diagonal_block, Q upper_block) {
    Matrix<T, 6> m;
    for (int j = 0; j < 3; ++j) {
      Vector<T, 3> unit = zeros<T, 3>();
      unit[j] = T(1);
      const Vector<T, 3> p = diagonal_block(unit), q = upper_block(unit);
      for (int i = 0; i < 3; ++i) {
        m[i][j] = m[3 + i][3 + j] = p[i];
        m[i][3 + j] = q[i];
        m[3 + i][j] = T(0);
      }
    }
    return m;
  }
  template <class T>
  static Matrix<T, 6> left_jacobian(const Tangent<T>& w) {
    const Rodrigues<T> k(dot(angular(w), angular(w)));
    return blocks<T>([&](const Vector<T, 3>& x) { return SO3::integral(angular(w), k, x); },
                     [&](const Vector<T, 3>& x) { return coupling(k, w, x); });
  }
  template <class T>
  static Matrix<T, 6> left_jacobian_inverse(const Tangent<T>& w) {
    const Rodrigues<T> k(dot(angular(w), angular(w)));
    const auto p = [&](const Vector<T, 3>& x) { return SO3::integral_inverse(angular(w), k.b, x); };
    return blocks<T>(p, [&](const Vector<T, 3>& x) { return -p(coupling(k, w, p(x))); });
  }
  template <class T>
  static Matrix<T, 6> adjoint(const Element<T>& g) {
    return blocks<T>([&](const Vector<T, 3>& x) { return SO3::act(rotation(g), x); },
                     [&](const Vector<T, 3>& x) { return cross(translation(g), SO3::act(rotation(g), x)); });
  }
  template <class T>
  static Matrix<T, 4> hat(const Tangent<T>& w) {
    const Matrix<T, 3> O = SO3::hat(angular(w));
    return homogeneous(O, linear(w), T(0));
  }
  template <class T>
  static Matrix<T, 4> homogeneous(const Matrix<T, 3>& A, const Vector<T, 3>& t, const T& corner) {
    Matrix<T, 4> m;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        m[i][j] = A[i][j];
      }
      m[i][3] = t[i];
      m[3][i] = T(0);
    }
    m[3][3] = corner;
    return m;
  }
  template <class T>
  static Matrix<T, 3> linear_part(const Matrix<T, 4>& m) {
    Matrix<T, 3> A;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        A[i][j] = m[i][j];
      }
    }
    return A;
  }
  template <class T>
  static Tangent<T> vee(const Matrix<T, 4>& X) {
    return tangent<T>({{X[0][3], X[1][3], X[2][3]}}, SO3::vee(linear_part(X)));
  }
  template <class T>
  static Matrix<T, 4> to_matrix(const Element<T>& g) {
    return homogeneous(SO3::to_matrix(rotation(g)), translation(g), T(1));
  }
  template <class T>
  static Element<T> from_matrix(const Matrix<T, 4>& m) {
    return element<T>({{m[0][3], m[1][3], m[2][3]}}, SO3::from_matrix(linear_part(m)));
  }
  template <class T>
  static Element<T> normalised(const Element<T>& g) {
    return element(translation(g), SO3::normalised(rotation(g)));
  }
  template <class T>
  static Element<T> exactly_normalised(const Element<T>& g) {
    return element(translation(g), SO3::exactly_normalised(rotation(g)));
  }
  template <class T>
  static Element<T> compact_gradient(const Element<T>& g, const Tangent<T>& by_tangent) {
    const Vector<T, 4> q = SO3::exactly_normalised(rotation(g));
    return element(SO3::act(q, linear(by_tangent)), SO3::compact_gradient(rotation(g), angular(by_tangent)));
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
