// SO(2): (c, s), the turn (x, y) -> (c x - s y, s x + c y). Algebra: the angle.
#pragma once

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/algebra/lie/matrix.h"
#include "weyl/algebra/lie/series.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

struct SO2 {
  static constexpr LieGroup group = LieGroup::so2;
  static constexpr int dimension = 2, dof = 1, compact = 2, matrix = 2;
  template <class T>
  using Element = Vector<T, 2>;
  template <class T>
  using Tangent = Vector<T, 1>;

  template <class T>
  static Element<T> identity() {
    return {{T(1), T(0)}};
  }
  template <class T>
  static Element<T> compose(const Element<T>& a, const Element<T>& b) {
    return {{a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]}};
  }
  template <class T>
  static Element<T> inverse(const Element<T>& g) {
    return {{g[0], -g[1]}};
  }
  /// What `between` needs of its first argument, made once a token.
  template <class T>
  static Element<T> anchor(const Element<T>& g) {
    return g;
  }
  template <class T>
  static Element<T> from_anchor(const Element<T>& a, const Element<T>& b) {
    return {{a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]}};
  }
  /// R v and R^T v.
  template <class T>
  static Vector<T, 2> act(const Element<T>& g, const Vector<T, 2>& v) {
    return {{g[0] * v[0] - g[1] * v[1], g[1] * v[0] + g[0] * v[1]}};
  }
  template <class T>
  static Vector<T, 2> act_inverse(const Element<T>& g, const Vector<T, 2>& v) {
    return {{g[0] * v[0] + g[1] * v[1], g[0] * v[1] - g[1] * v[0]}};
  }
  template <class T>
  static Element<T> exp(const Tangent<T>& w) {
    Element<T> g;
    sincos_of(w[0], g[1], g[0]);
    return g;
  }
  template <class T>
  static Tangent<T> log(const Element<T>& g) {
    return {{atan2_of(g[1], g[0])}};
  }
  /// pi - |theta|, without cancellation.
  template <class T>
  static T margin(const Element<T>& g) {
    return atan2_of(abs_of(g[1]), -g[0]);
  }
  /// J_l^-T g: what turns a gradient on the logarithm into one on a perturbation from the left.
  template <class T>
  static Tangent<T> left_inverse_transposed(const Tangent<T>&, const Tangent<T>& g) {
    return g;
  }
  template <class T>
  static Matrix<T, 1> adjoint(const Element<T>&) {
    return {{{T(1)}}};
  }
  template <class T>
  static Matrix<T, 1> left_jacobian(const Tangent<T>&) {
    return {{{T(1)}}};
  }
  template <class T>
  static Matrix<T, 1> left_jacobian_inverse(const Tangent<T>&) {
    return {{{T(1)}}};
  }
  template <class T>
  static Matrix<T, 2> hat(const Tangent<T>& w) {
    return {{{T(0), -w[0]}, {w[0], T(0)}}};
  }
  template <class T>
  static Tangent<T> vee(const Matrix<T, 2>& X) {
    return {{T(0.5) * (X[1][0] - X[0][1])}};
  }
  template <class T>
  static Matrix<T, 2> to_matrix(const Element<T>& g) {
    return {{{g[0], -g[1]}, {g[1], g[0]}}};
  }
  /// The nearest turn in the Frobenius norm.
  template <class T>
  static Element<T> from_matrix(const Matrix<T, 2>& m) {
    const T c = m[0][0] + m[1][1], s = m[1][0] - m[0][1];
    const T over = T(1) / sqrt_of(c * c + s * s);
    return {{c * over, s * over}};
  }
  /// One Newton step towards norm 1.
  template <class T>
  static Element<T> normalised(const Element<T>& g) {
    return T(0.5) * (T(3) - dot(g, g)) * g;
  }
  /// The gradient by the numbers of g, from that by the right perturbation g exp(e), as those of a function
  /// that does not depend on the norm of (c, s).
  template <class T>
  static Element<T> compact_gradient(const Element<T>& g, const Tangent<T>& by_tangent) {
    const T scaled = by_tangent[0] / dot(g, g);
    return {{-g[1] * scaled, g[0] * scaled}};
  }
  /// g with norm 1 to the last place.
  template <class T>
  static Element<T> exactly_normalised(const Element<T>& g) {
    return (T(1) / sqrt_of(dot(g, g))) * g;
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
