// What Aff(2) and Aff(3) share: (A row-major, t), the map p -> A p + t.
#pragma once

#include "weyl/algebra/lie/dual.h"
#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/algebra/lie/matrix.h"
#include "weyl/algebra/lie/series.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// `Own` is AFF2 or AFF3: it knows the coordinates of the linear part of the algebra, exp, log and the chart.
template <class Own, int n>
struct Affine {  // NOLINT(bugprone-crtp-constructor-accessibility): static functions alone
  static constexpr int dimension = n, dof = n * n + n, compact = n * n + n, matrix = n + 1;
  template <class T>
  using Element = Vector<T, n * n + n>;
  template <class T>
  using Tangent = Vector<T, n * n + n>;

  template <class T>
  static Matrix<T, n> linear(const Element<T>& g) {
    Matrix<T, n> A;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        A[i][j] = g[n * i + j];
      }
    }
    return A;
  }
  template <class T>
  static Vector<T, n> translation(const Element<T>& g) {
    Vector<T, n> t;
    for (int i = 0; i < n; ++i) {
      t[i] = g[n * n + i];
    }
    return t;
  }
  template <class T>
  static Element<T> element(const Matrix<T, n>& A, const Vector<T, n>& t) {
    Element<T> g;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        g[n * i + j] = A[i][j];
      }
      g[n * n + i] = t[i];
    }
    return g;
  }
  template <class T>
  static Vector<T, n> velocity(const Tangent<T>& w) {
    Vector<T, n> v;
    for (int i = 0; i < n; ++i) {
      v[i] = w[i];
    }
    return v;
  }

  template <class T>
  static Element<T> identity() {
    return element(diagonal<T, n>(T(1)), zeros<T, n>());
  }
  template <class T>
  static Element<T> compose(const Element<T>& a, const Element<T>& b) {
    return element(linear(a) * linear(b), linear(a) * translation(b) + translation(a));
  }
  template <class T>
  static Element<T> inverse(const Element<T>& g) {
    const Matrix<T, n> A = inverse_of(linear(g));
    return element(A, -(A * translation(g)));
  }
  /// A is singular to rounding: |det A| against the product of the rows' norms (Hadamard's bound).
  template <class T>
  static auto singular(const Matrix<T, n>& A) {
    const T det = determinant(A), square = det * det;
    T bound(64 * 2.3e-16 * 2.3e-16);
    for (int i = 0; i < n; ++i) {
      T row(0);
      for (int j = 0; j < n; ++j) {
        row += A[i][j] * A[i][j];
      }
      bound = bound * row;
    }
    return (!(square > bound)) & (square < T(1e300));  // NaN and infinity are not
  }
  /// A singular linear part as 0.
  template <class T>
  static Element<T> regular_or_zero(const Element<T>& g) {
    const Matrix<T, n> A = linear(g);
    return element(select(singular(A), diagonal<T, n>(T(0)), A), translation(g));
  }
  /// A^-1; 0 of 0.
  template <class T>
  static Matrix<T, n> inverse_or_zero(const Matrix<T, n>& A) {
    const T size = squared_norm(A);
    const auto nothing = (!(size > T(0))) & (size < T(1));
    const Matrix<T, n> adj = adjugate(A);
    return (T(1) / select(nothing, T(1), determinant(A, adj))) * adj;
  }
  /// (A^-1, t): what `between` needs of its first argument, made once a token. Of A = 0 it is 0, so that each
  /// pair with that is outside the chart.
  template <class T>
  static Element<T> anchor(const Element<T>& g) {
    return element(inverse_or_zero(linear(g)), translation(g));
  }
  template <class T>
  static Element<T> from_anchor(const Element<T>& a, const Element<T>& b) {
    const Matrix<T, n> A = linear(a);
    return element(A * linear(b), A * (translation(b) - translation(a)));
  }
  template <class T>
  static Vector<T, n> act(const Element<T>& g, const Vector<T, n>& p) {
    return linear(g) * p + translation(g);
  }
  template <class T>
  static Matrix<T, n + 1> homogeneous(const Matrix<T, n>& A, const Vector<T, n>& t, const T& corner) {
    Matrix<T, n + 1> m;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        m[i][j] = A[i][j];
      }
      m[i][n] = t[i];
      m[n][i] = T(0);
    }
    m[n][n] = corner;
    return m;
  }
  template <class T>
  static Matrix<T, n + 1> to_matrix(const Element<T>& g) {
    return homogeneous(linear(g), translation(g), T(1));
  }
  template <class T>
  static Element<T> from_matrix(const Matrix<T, n + 1>& m) {
    Element<T> g;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        g[n * i + j] = m[i][j];
      }
      g[n * n + i] = m[i][n];
    }
    return g;
  }
  template <class T>
  static Matrix<T, n + 1> hat(const Tangent<T>& w) {
    return homogeneous(Own::generator(w), velocity(w), T(0));
  }
  template <class T>
  static Tangent<T> vee(const Matrix<T, n + 1>& X) {
    const Element<T> parts = from_matrix(X);
    return Own::coordinates(linear(parts), translation(parts));
  }
  template <class T>
  static Element<T> normalised(const Element<T>& g) {
    return g;
  }
  template <class T>
  static Element<T> exactly_normalised(const Element<T>& g) {
    return g;
  }

  /// Columns g E_k g^-1: X -> A X A^-1, v -> A v - A X A^-1 t.
  template <class T>
  static Matrix<T, dof> adjoint(const Element<T>& g) {
    const Matrix<T, n> A = linear(g), inverse = inverse_of(A);
    Matrix<T, dof> m;
    for (int k = 0; k < dof; ++k) {
      Tangent<T> unit = zeros<T, dof>();
      unit[k] = T(1);
      const Matrix<T, n> X = A * (Own::generator(unit) * inverse);
      const Tangent<T> column = Own::coordinates(X, A * velocity(unit) - X * translation(g));
      for (int i = 0; i < dof; ++i) {
        m[i][k] = column[i];
      }
    }
    return m;
  }
  /// Columns vee(d exp(w)[e_k] exp(w)^-1): the derivative of exp itself, by dual numbers.
  template <class T>
  static Matrix<T, dof> left_jacobian(const Tangent<T>& w) {
    using D = Dual<T, dof>;
    Tangent<D> moved;
    for (int k = 0; k < dof; ++k) {
      moved[k] = D(w[k]);
      moved[k].d[k] = T(1);
    }
    const Element<D> g = Own::exp(moved);
    const Element<T> back = Own::exp(-w);
    Matrix<T, dof> m;
    for (int k = 0; k < dof; ++k) {
      Element<T> d;
      for (int i = 0; i < compact; ++i) {
        d[i] = g[i].d[k];
      }
      const Matrix<T, n> X = linear(d) * linear(back);
      const Tangent<T> column = Own::coordinates(X, linear(d) * translation(back) + translation(d));
      for (int i = 0; i < dof; ++i) {
        m[i][k] = column[i];
      }
    }
    return m;
  }
  /// Columns d log(exp(s e_k) exp(w))/ds, w inside the chart of the logarithm.
  template <class T>
  static Matrix<T, dof> left_jacobian_inverse(const Tangent<T>& w) {
    using D = Dual<T, dof>;
    const Element<T> g = Own::exp(w);
    Element<D> moved;
    for (int i = 0; i < compact; ++i) {
      moved[i] = D(g[i]);
    }
    for (int k = 0; k < dof; ++k) {
      Tangent<T> unit = zeros<T, dof>();
      unit[k] = T(1);
      const Matrix<T, n> X = Own::generator(unit);
      const Element<T> d = element(X * linear(g), X * translation(g) + velocity(unit));
      for (int i = 0; i < compact; ++i) {
        moved[i].d[k] = d[i];
      }
    }
    const Tangent<D> logarithm = Own::log(moved);
    Matrix<T, dof> m;
    for (int i = 0; i < dof; ++i) {
      for (int k = 0; k < dof; ++k) {
        m[i][k] = logarithm[i].d[k];
      }
    }
    return m;
  }

  /// The gradient by (A, t) from that by w = log(A, t). With F(A) = V^-1(log A), w = (F t, log A); the
  /// adjoint of the derivative of a matrix function at A is its derivative at A^T:
  /// gA = L_log(A^T; G) + L_F(A^T; g_u t^T), gt = F^T g_u.
  template <class T>
  static void log_gradient(const Element<T>& g, const Tangent<T>& gw, Matrix<T, n>& gA, Vector<T, n>& gt) {
    using D = Dual<T, 2>;
    const Vector<T, n> gu = velocity(gw);
    const Matrix<T, n> A = linear(g), G = Own::cogenerator(gw), H = outer(gu, translation(g));
    Matrix<D, n> moved, X, F;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        moved[i][j].value = A[j][i];
        moved[i][j].d[0] = G[i][j];
        moved[i][j].d[1] = H[i][j];
      }
    }
    Own::log_matrices(moved, X, F);
    for (int i = 0; i < n; ++i) {
      gt[i] = T(0);
      for (int j = 0; j < n; ++j) {
        gA[i][j] = X[i][j].d[0] + F[i][j].d[1];
        gt[i] += F[i][j].value * gu[j];
      }
    }
  }
  /// Gradients by e of log(exp(-e) g) and of log(g exp(e)), given the one by log g: -J_l^-T gw and J_r^-T gw.
  template <class T>
  static void log_adjoint(const Element<T>& g, const Tangent<T>& gw, Tangent<T>& left, Tangent<T>& right) {
    Matrix<T, n> gA;
    Vector<T, n> gt;
    log_gradient(g, gw, gA, gt);
    const Matrix<T, n> A = linear(g);
    left = -Own::coordinate_gradient(gA * transposed(A) + outer(gt, translation(g)), gt);
    right = Own::coordinate_gradient(transposed(A) * gA, transposed(A) * gt);
  }
  /// As SO2::compact_gradient: dA = A X, dt = A v.
  template <class T>
  static Element<T> compact_gradient(const Element<T>& g, const Tangent<T>& by_tangent) {
    const Matrix<T, n> back = transposed(inverse_or_zero(linear(g)));
    return element(back * Own::cogenerator(by_tangent), back * velocity(by_tangent));
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
