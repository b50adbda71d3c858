// The principal square root of a 3x3 matrix with no eigenvalue on the closed negative half line, in closed
// form, and its derivative.
#pragma once

#include "weyl/algebra/lie/dual.h"
#include "weyl/algebra/lie/matrix.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// The sum of the principal 2x2 minors.
template <class T>
inline T second_invariant(const Matrix<T, 3>& a) {
  return (a[0][0] * a[1][1] - a[0][1] * a[1][0]) + (a[0][0] * a[2][2] - a[0][2] * a[2][0]) +
         (a[1][1] * a[2][2] - a[1][2] * a[2][1]);
}

/// One real root of mu^3 - a mu^2 + b mu - 1, the one farthest from the mean of the three, so that it is
/// simple unless all are close.
template <class T>
inline T real_eigenvalue(const T& a, const T& b) {
  // mu = x + a/3: x^3 + 3 p x + 2 q = 0.
  const T mean = a * T(1.0 / 3), p = b * T(1.0 / 3) - mean * mean;
  const T q = T(0.5) * (mean * (b - T(2) * mean * mean) - T(1)), size = abs_of(q);
  const T discriminant = q * q + p * p * p;
  const auto one = discriminant > T(0);
  const T cube = size + sqrt_of(select(one, discriminant, T(0)));
  const auto regular = cube > T(1e-60);
  const T w = cbrt_of(select(regular, cube, T(1)));
  const T cardano = select(regular, w - p / w, T(0));
  T s, c;
  sincos_of(T(1.0 / 3) * atan2_of(sqrt_of(select(one, T(0), -discriminant)), select(one, T(1), size)), s, c);
  const T trigonometric = T(2) * sqrt_of(larger_of(-p, T(0))) * c;
  const T x = select(one, cardano, trigonometric);
  T mu = mean + select(q > T(0), -x, x);
  for (int step = 0; step < 2; ++step) {
    const T f = ((mu - a) * mu + b) * mu - T(1), slope = (T(3) * mu - T(2) * a) * mu + b;
    const auto steep = abs_of(slope) > T(1e-3);
    mu -= select(steep, f / select(steep, slope, T(1)), T(0));
  }
  return mu;
}

/// sqrt(A), polished by Newton steps. With B = A/det^(1/3) and i1, i2, 1 the invariants of U = sqrt(B):
/// U = (B + i2)^-1 (i1 B + 1); they follow from one eigenvalue of B. An error of that eigenvalue near a
/// multiple one cancels to third order. `first`: of a matrix that may be wide or near the cut, with exact
/// minors and a step more; its root is neither.
template <class T>
inline Matrix<T, 3> principal_root(const Matrix<T, 3>& A, bool first) {
  const auto inverse = [first](const Matrix<T, 3>& m) { return first ? exact_inverse_of(m) : inverse_of(m); };
  const T size = cbrt_of(first ? determinant(A, exact_adjugate(A)) : determinant(A));
  const Matrix<T, 3> B = (T(1) / size) * A;
  const T a = trace(B), b = second_invariant(B), mu = real_eigenvalue(a, b);
  const T alpha = sqrt_of(mu), rest = T(1) / alpha;  // roots of mu and of the product of the other two
  const T sum = select(mu > T(1), (b - rest * rest) * (rest * rest), a - mu) + T(2) * rest;
  const T s = sqrt_of(larger_of(sum, T(1e-30)));
  const T i1 = alpha + s, i2 = alpha * s + rest;
  const Matrix<T, 3> one = diagonal<T, 3>(T(1));
  Matrix<T, 3> U = inverse(B + i2 * one) * (i1 * B + one);
  for (int step = 0; step < (first ? 2 : 1); ++step) {
    U = T(0.5) * (U + inverse(U) * B);
  }
  return sqrt_of(size) * U;
}

/// dU of U dU + dU U = F: with i1, i2, i3 the invariants of U (Cayley and Hamilton),
/// dU = N (2 (i1 U^2 + i3))^-1, N = U^2 F - U F U + F U^2 - i1 (U F - F U) + i2 F.
template <class T>
struct RootDerivative {
  Matrix<T, 3> U, square, back;
  T i1, i2;

  explicit RootDerivative(const Matrix<T, 3>& root) : U(root), square(root * root) {
    i1 = trace(U);
    i2 = second_invariant(U);
    const Matrix<T, 3> one = diagonal<T, 3>(T(1));
    back = T(0.5) * inverse_of(i1 * square + determinant(U) * one);
  }
  Matrix<T, 3> operator()(const Matrix<T, 3>& F) const {
    const Matrix<T, 3> UF = U * F, FU = F * U;
    return (square * F - UF * U + F * square - i1 * (UF - FU) + i2 * F) * back;
  }
};

template <class T, int n>
inline Matrix<Dual<T, n>, 3> principal_root(const Matrix<Dual<T, n>, 3>& A, bool first) {
  Matrix<T, 3> value, F;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      value[i][j] = A[i][j].value;
    }
  }
  const Matrix<T, 3> root = principal_root(value, first);
  const RootDerivative<T> derivative(root);
  Matrix<Dual<T, n>, 3> y;
  for (int k = 0; k < n; ++k) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        F[i][j] = A[i][j].d[k];
      }
    }
    const Matrix<T, 3> d = derivative(F);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        y[i][j].value = root[i][j];
        y[i][j].d[k] = d[i][j];
      }
    }
  }
  return y;
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
