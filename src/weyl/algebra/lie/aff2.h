// Aff(2): (A row-major, t). Algebra: (v, phi, sigma, p, q), X = ((sigma + p, q - phi), (q + phi, sigma - p)).
// Closed forms with no cases of eigenvalues. X = sigma 1 + Y, Y^2 = z 1; S(z) and C(z) as in series.h, and
// with their divided differences S2 = (S(sigma^2) - S(z))/(sigma^2 - z), C2 likewise:
//   V^-1 = r 1 + (sigma q - 1/2) X,              r = S(z)/(2 C2), q = S2/(2 C2)
//   V = (e^sigma S(z) - 2 sigma v) 1 + v X,      v = e^sigma (C2 - sigma S2).
#pragma once

#include "weyl/algebra/lie/affine.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// S2 and C2. Power series in the complete homogeneous polynomials where both arguments are moderate;
/// elsewhere direct differences, or, for two large positive arguments x^2 and y^2, products of
/// half sums and differences, which do not cancel when they are close.
template <class T>
struct DividedDifferences {
  T S2, C2;

  /// C and S are C(z) and S(z).
  DividedDifferences(const T& sigma, const T& z, const T& C, const T& S) {
    constexpr int terms = is_single<T> ? 12 : 17;
    constexpr ReciprocalFactorials<2, terms> even;  // 1/(2k)!, k = 1, 2, ...
    constexpr ReciprocalFactorials<3, terms> odd;
    const T square = sigma * sigma;
    const auto wide = (square > T(20)) | (z > T(20)) | (z < T(-10.5));
    const T a = select(wide, T(0), square), b = select(wide, T(0), z);
    T h(1), power(1);
    S2 = T(odd.c[0]);
    C2 = T(even.c[0]);
    for (int k = 1; k < terms; ++k) {
      power = power * b;
      h = a * h + power;
      S2 += h * T(odd.c[k]);
      C2 += h * T(even.c[k]);
    }
    if (any(wide)) {
      T far_S2, far_C2;
      far(sigma, z, C, S, far_S2, far_C2);
      S2 = select(wide, far_S2, S2);
      C2 = select(wide, far_C2, C2);
    }
  }

 private:
  static void far(const T& sigma, const T& z, const T& C, const T& S, T& S2, T& C2) {
    const T x = abs_of(sigma), square = sigma * sigma;
    const Entire<T> at_square(square);
    const auto both = (x > T(1)) & (z > T(1));
    const T apart = select(both, T(1), square - z);
    const T plain_S = (at_square.S - S) / apart, plain_C = (at_square.C - C) / apart;
    const T safe_z = select(both, z, T(4)), safe_x = select(both, x, T(2)), y = sqrt_of(safe_z);
    const T ex = exp_of(safe_x), ey = exp_of(y), s = T(0.5) * (safe_x + y);
    const T rise = sqrt_of(ex * ey), fall = T(1) / rise;  // e^s, e^-s
    const T d = T(0.5) * (square - z) / (safe_x + y);
    const Entire<T> at_d(d * d);
    const T sinc_s = T(0.5) * (rise - fall) / s, cosh_s = T(0.5) * (rise + fall);
    S2 = select(both, (cosh_s * at_d.S - sinc_s * at_d.C) / (T(2) * safe_x * y), plain_S);
    C2 = select(both, T(0.5) * sinc_s * at_d.S, plain_C);
  }
};

struct ArcSeries {
  double a[16] = {1};
  constexpr ArcSeries() {
    for (int k = 0; k < 15; ++k) {
      a[k + 1] = -a[k] * (k + 1) / (2 * k + 3);
    }
  }
};

struct AFF2 : Affine<AFF2, 2> {
  static constexpr LieGroup group = LieGroup::aff2;

  template <class T>
  static Matrix<T, 2> generator(const Tangent<T>& w) {
    return {{{w[3] + w[4], w[5] - w[2]}, {w[5] + w[2], w[3] - w[4]}}};
  }
  template <class T>
  static Tangent<T> coordinates(const Matrix<T, 2>& X, const Vector<T, 2>& v) {
    const T half(0.5);
    return {{v[0], v[1], half * (X[1][0] - X[0][1]), half * (X[0][0] + X[1][1]), half * (X[0][0] - X[1][1]),
             half * (X[0][1] + X[1][0])}};
  }
  /// The gradient by X from that by the coordinates of X; and the other way.
  template <class T>
  static Matrix<T, 2> cogenerator(const Tangent<T>& g) {
    const T half(0.5);
    return {{{half * (g[3] + g[4]), half * (g[5] - g[2])}, {half * (g[5] + g[2]), half * (g[3] - g[4])}}};
  }
  template <class T>
  static Tangent<T> coordinate_gradient(const Matrix<T, 2>& G, const Vector<T, 2>& v) {
    return {{v[0], v[1], G[1][0] - G[0][1], G[0][0] + G[1][1], G[0][0] - G[1][1], G[0][1] + G[1][0]}};
  }

  /// 1 + kappa where det A > 0, kappa = tr A/(2 sqrt det A): inside the chart when positive. For kappa < 0 it
  /// is (1 - kappa^2)/(1 - kappa), whose sign is that of the discriminant, which the logarithm uses as well.
  /// -1 for det A <= 0.
  template <class T>
  static T margin(const Element<T>& g) {
    const Matrix<T, 2> A = linear(g);
    const T half(0.5), det = determinant(A), mean = half * (A[0][0] + A[1][1]);
    const T skew = half * (A[0][0] - A[1][1]);
    const T discriminant = difference_of_products(skew, skew, -A[0][1], A[1][0]);
    const auto regular = det > T(0), ahead = mean > T(0);
    const T safe = select(regular, det, T(1)), root = sqrt_of(safe), kappa = mean / root;
    const T inside =
        select(ahead, T(1) + kappa, -(discriminant / safe) / (T(1) - select(ahead, T(0), kappa)));
    return select(regular, inside, select(det < T(1), T(-1), det));  // NaN stays
  }

  /// log A = sigma 1 + scale (p 1*, b, c): what log and its derivative share.
  template <class T>
  struct Logarithm {
    T sigma, p, b, c;  // X = ((sigma + p, b), (c, sigma - p))
    T det, r, slope;   // V^-1 = r 1 + slope X, or, where `shrinks`, (r 1 + slope X) A^-1
    decltype(T(0) > T(0)) grows;

    explicit Logarithm(const Matrix<T, 2>& A) {
      const T half(0.5), e1 = A[0][0] - T(1), e4 = A[1][1] - T(1), bc = A[0][1] * A[1][0];
      const T mean = half * (A[0][0] + A[1][1]), skew = half * (A[0][0] - A[1][1]);
      const T discriminant = difference_of_products(skew, skew, -A[0][1], A[1][0]);
      const T found = determinant(A);
      det = select(found > T(0), found, T(1));
      // Near the identity ln det from det - 1 without cancellation; farther, the terms of that would cancel.
      const T away = e1 * e1 + e4 * e4 + A[0][1] * A[0][1] + A[1][0] * A[1][0];
      const auto near = away < T(0.25);
      const T excess = select(near, e1 + e4 + (e1 * e4 - bc), T(0));
      sigma = half * select(near, log1p_of(excess), log_of(select(near, T(1), det)));
      const T root = sqrt_of(det), over = T(1) / root;
      const T cosine = mean * over, square = discriminant / det;  // cosine^2 - 1 = square
      const auto ahead = cosine > T(0);
      const T e = square / (T(1) + select(ahead, cosine, T(0)));  // cosine - 1, where ahead
      const auto close = ahead & (abs_of(e) < T(0.1));
      const T u = sqrt_of(select(close, T(1), abs_of(square)));
      const T angle = select(square > T(0), asinh_of(u), atan2_of(u, cosine));
      const T L = select(close, series(select(close, e, T(0))), angle / u);
      const T scale = L * over;
      p = scale * skew;
      b = scale * A[0][1];
      c = scale * A[1][0];
      const T S = T(1) / L;
      const DividedDifferences<T> d(sigma, L * L * square, cosine, S);
      const T by = half / d.C2;
      grows = sigma > T(1);
      r = S * by;
      slope = sigma * d.S2 * by + select(grows, half, -half);
    }
    Matrix<T, 2> X() const { return {{{sigma + p, b}, {c, sigma - p}}}; }
    /// L(c) = arccosh(c)/sqrt(c^2 - 1), one analytic function on (-1, inf), about c = 1: e = c - 1.
    static T series(const T& e) {
      static constexpr ArcSeries table;
      return power_series<is_single<T> ? 8 : 16>(table.a, e);
    }
  };

  template <class T>
  static Tangent<T> log(const Element<T>& g) {
    const Matrix<T, 2> A = linear(g);
    const Logarithm<T> l(A);
    const Vector<T, 2> t = translation(g), near = (T(1) / l.det) * (adjugate(A) * t);
    const Vector<T, 2> from = select(l.grows, near, t);
    const Vector<T, 2> u = l.r * from + l.slope * (l.X() * from);
    const T half(0.5);
    return {{u[0], u[1], half * (l.c - l.b), l.sigma, l.p, half * (l.c + l.b)}};
  }
  /// X = log A and F = V^-1(X).
  template <class T>
  static void log_matrices(const Matrix<T, 2>& A, Matrix<T, 2>& X, Matrix<T, 2>& F) {
    const Logarithm<T> l(A);
    X = l.X();
    const Matrix<T, 2> plain = diagonal<T, 2>(l.r) + l.slope * X;
    F = select(l.grows, (T(1) / l.det) * (adjugate(A) * plain), plain);
  }

  template <class T>
  static Element<T> exp(const Tangent<T>& w) {
    const T& sigma = w[3];
    const auto grows = sigma > T(0);  // V(X) = e^X V(-X)
    const T size = select(grows, sigma, -sigma), z = w[4] * w[4] + w[5] * w[5] - w[2] * w[2];
    const Entire<T> e(z);
    const DividedDifferences<T> d(sigma, z, e.C, e.S);
    const T shrink = exp_of(-size), v1 = shrink * (d.C2 + size * d.S2);
    const Matrix<T, 2> X = generator(w);
    const Vector<T, 2> v = velocity(w);
    const Vector<T, 2> t = (shrink * e.S + T(2) * size * v1) * v + select(grows, -v1, v1) * (X * v);
    const T factor = exp_of(sigma), along = factor * e.S;
    const Matrix<T, 2> A{{{factor * e.C + along * w[4], along * (w[5] - w[2])},
                          {along * (w[5] + w[2]), factor * e.C - along * w[4]}}};
    return element(A, select(grows, A * t, t));
  }
};

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
