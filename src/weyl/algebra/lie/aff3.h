// Aff(3): (A row-major, t). Algebra: (v, omega, sigma, s01, s02, s12, d1, d2),
// X = hat(omega) + sigma 1 + symmetric off-diagonals s + d1 diag(1, -1, 0) + d2 diag(1, 1, -2).
// log by inverse scaling and squaring on (A, t) with square roots in closed form, then Gauss-Legendre:
//   V(log A)^-1 = int_0^1 ((1 - x) 1 + x A)^-1 dx,   log A = V^-1 (A - 1).
// Always computed in double.
#pragma once

#include "weyl/algebra/lie/affine.h"
#include "weyl/algebra/lie/root3.h"
#include "weyl/algebra/lie/so3.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

struct AFF3 : Affine<AFF3, 3> {
  static constexpr LieGroup group = LieGroup::aff3;

  template <class T>
  static Matrix<T, 3> generator(const Tangent<T>& w) {
    const T& s = w[6];
    return {{{s + w[10] + w[11], w[7] - w[5], w[8] + w[4]},
             {w[7] + w[5], s - w[10] + w[11], w[9] - w[3]},
             {w[8] - w[4], w[9] + w[3], s - T(2) * w[11]}}};
  }
  template <class T>
  static Tangent<T> coordinates(const Matrix<T, 3>& X, const Vector<T, 3>& v) {
    const T half(0.5);
    return {{v[0], v[1], v[2], half * (X[2][1] - X[1][2]), half * (X[0][2] - X[2][0]),
             half * (X[1][0] - X[0][1]), T(1.0 / 3) * trace(X), half * (X[0][1] + X[1][0]),
             half * (X[0][2] + X[2][0]), half * (X[1][2] + X[2][1]), half * (X[0][0] - X[1][1]),
             T(1.0 / 6) * (X[0][0] + X[1][1] - T(2) * X[2][2])}};
  }
  /// As in aff2.h.
  template <class T>
  static Matrix<T, 3> cogenerator(const Tangent<T>& g) {
    const T half(0.5), third = T(1.0 / 3) * g[6], sixth = T(1.0 / 6) * g[11];
    return {{{third + half * g[10] + sixth, half * (g[7] - g[5]), half * (g[8] + g[4])},
             {half * (g[7] + g[5]), third - half * g[10] + sixth, half * (g[9] - g[3])},
             {half * (g[8] - g[4]), half * (g[9] + g[3]), third - T(2) * sixth}}};
  }
  template <class T>
  static Tangent<T> coordinate_gradient(const Matrix<T, 3>& G, const Vector<T, 3>& v) {
    return {{v[0], v[1], v[2], G[2][1] - G[1][2], G[0][2] - G[2][0], G[1][0] - G[0][1], trace(G),
             G[0][1] + G[1][0], G[0][2] + G[2][0], G[1][2] + G[2][1], G[0][0] - G[1][1],
             G[0][0] + G[1][1] - T(2) * G[2][2]}};
  }

  /// With g(x) = det(A + x)/det A: its smallest value over x >= 0, positive inside the chart and at most 1.
  /// What could be 0 to rounding, a half-turn or nearly one, is 0. -1 for det A <= 0.
  template <class T>
  static T margin(const Element<T>& g) {
    const Matrix<T, 3> A = linear(g), adj = exact_adjugate(A);
    const T i1 = trace(A), i2 = trace(adj), i3 = determinant(A, adj), square = i1 * i1 - T(3) * i2;
    const auto regular = i3 > T(0), turns = square > T(0);
    const T x = (sqrt_of(select(turns, square, T(0))) - i1) * T(1.0 / 3);
    const T over = T(1) / select(regular, i3, T(1)), lowest = T(1) + over * (x * (i2 + x * (i1 + x)));
    const T terms = T(1) + over * (abs_of(x) * (abs_of(i2) + abs_of(x) * (abs_of(i1) + abs_of(x))));
    const auto rounding = (lowest > T(0)) & (lowest < T(64 * 2.3e-16) * terms);
    const T least = select(rounding, T(0), select(lowest > T(1), T(1), lowest));  // NaN stays
    const T inside = select(turns, select(x > T(0), least, T(1)), T(1));
    return select(regular, inside, select(i3 < T(1), T(-1), i3));  // NaN stays
  }

  /// X = log A and y <- V^-1(X) y, y a vector or a matrix.
  template <class T, class Y>
  static void logarithm(const Matrix<T, 3>& given, Matrix<T, 3>& X, Y& y) {
    const Matrix<T, 3> one = diagonal<T, 3>(T(1));
    const auto regular = determinant(given, exact_adjugate(given)) > T(0);
    const Matrix<T, 3> A = select(regular, given, one);
    Matrix<T, 3> E = A - one;
    T scale(8);
    for (int k = 0; k < 3; ++k) {
      halve(E, y, k == 0);
    }
    // More square roots for wide exponents: the error is |tanh(exponent/2^(k+2))|^16.
    const T width = larger_of(squared_norm(A), squared_norm(inverse_of(A)));
    constexpr double limits[] = {403.4, 1.63e5, 2.65e10};
    for (const double limit : limits) {
      const auto wide = width > T(limit);
      if (!any(wide)) {
        break;
      }
      Matrix<T, 3> more = E;
      Y further = y;
      halve(more, further, false);
      E = select(wide, more, E);
      y = select(wide, further, y);
      scale = select(wide, T(2) * scale, scale);
    }
    constexpr double nodes[] = {0.183434642495649804939476142360, 0.525532409916328985817739049189,
                                0.796666477413626739591553936476, 0.960289856497536231683560868569};
    constexpr double weights[] = {0.362683783378361982965150449277, 0.313706645877887287337962201987,
                                  0.222381034453374470544355994426, 0.101228536290376259152531354310};
    Matrix<T, 3> P = diagonal<T, 3>(T(0));
    for (int q = 0; q < 4; ++q) {
      const Matrix<T, 3> low = inverse_of(one + T(0.5 - 0.5 * nodes[q]) * E);
      const Matrix<T, 3> high = inverse_of(one + T(0.5 + 0.5 * nodes[q]) * E);
      P = P + T(0.5 * weights[q]) * (low + high);
    }
    X = scale * (P * E);
    y = scale * (P * y);
  }

  template <class T>
  static Tangent<T> log(const Element<T>& g) {
    using W = Wide<T>;
    Element<W> wide;
    for (int i = 0; i < compact; ++i) {
      wide[i] = converted_to<W>(g[i]);
    }
    Matrix<W, 3> X;
    Vector<W, 3> u = translation(wide);
    logarithm(linear(wide), X, u);
    const Tangent<W> w = coordinates(X, u);
    Tangent<T> y;
    for (int i = 0; i < dof; ++i) {
      y[i] = converted_to<T>(w[i]);
    }
    return y;
  }
  /// X = log A and F = V^-1(X).
  template <class T>
  static void log_matrices(const Matrix<T, 3>& A, Matrix<T, 3>& X, Matrix<T, 3>& F) {
    using W = Wide<T>;
    Matrix<W, 3> wide, XW, FW = diagonal<W, 3>(W(1));
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        wide[i][j] = converted_to<W>(A[i][j]);
      }
    }
    logarithm(wide, XW, FW);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        X[i][j] = converted_to<T>(XW[i][j]);
        F[i][j] = converted_to<T>(FW[i][j]);
      }
    }
  }

  /// exp by scaling and squaring of e^X - 1 and V, Taylor's series for |X| <= 1.
  template <class T>
  static Element<T> exp(const Tangent<T>& given) {
    using W = Wide<T>;
    Tangent<W> w;
    for (int i = 0; i < dof; ++i) {
      w[i] = converted_to<W>(given[i]);
    }
    const Matrix<W, 3> one = diagonal<W, 3>(W(1));
    Matrix<W, 3> X = generator(w);
    W doublings(0);
    for (int k = 0; k < 1030; ++k) {  // enough for every finite X
      const auto large = squared_norm(X) > W(1);
      if (!any(large)) {
        break;
      }
      X = select(large, W(0.5) * X, X);
      doublings += select(large, W(1), W(0));
    }
    Matrix<W, 3> V = one;
    for (int k = 19; k >= 2; --k) {
      V = one + W(1.0 / k) * (X * V);
    }
    Matrix<W, 3> F = X * V;
    for (int k = 0; any(W(k) < doublings); ++k) {
      const auto more = W(k) < doublings;
      V = select(more, V + W(0.5) * (F * V), V);
      F = select(more, W(2) * F + F * F, F);
    }
    const Element<W> g = element(one + F, V * velocity(w));
    Element<T> y;
    for (int i = 0; i < compact; ++i) {
      y[i] = converted_to<T>(g[i]);
    }
    return y;
  }

 private:
  template <class To, class From>
  static To converted_to(const From& x) {
    if constexpr (std::is_same_v<To, From>) {
      return x;
    } else {
      return converted<To>(x);
    }
  }
  /// (1 + E, y) to its square root: with B = sqrt(1 + E), W = (1 + B)^-1: E <- E W = B - 1 without
  /// subtracting, y <- W y.
  template <class T, class Y>
  static void halve(Matrix<T, 3>& E, Y& y, bool first) {
    const Matrix<T, 3> one = diagonal<T, 3>(T(1));
    const Matrix<T, 3> W = inverse_of(one + principal_root(one + E, first));
    E = E * W;
    y = W * y;
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
