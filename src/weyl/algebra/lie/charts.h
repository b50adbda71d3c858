// What stands for the logarithm where its chart ends. Both agree with it near the identity and are physical
// coordinates like it.
#pragma once

#include "weyl/algebra/lie/group_numbers.h"
#include "weyl/algebra/lie/groups.h"

namespace weyl::kernels {
namespace WEYL_ISA::lie {

/// w = (g - g^-1)/2 in the coordinates of the algebra: defined on the whole group, w(g^-1) = -w(g), equal to
/// log g to second order. It vanishes at half-turns, so a score must not be made of it: see
/// frobenius_squares.
template <class G, class T>
inline typename G::template Tangent<T> frobenius_log(const typename G::template Element<T>& g) {
  return G::vee(T(0.5) * (G::to_matrix(g) - G::to_matrix(G::inverse(g))));
}

/// For each block of the algebra, (|g - 1|^2 + |g^-1 - 1|^2)/2 of its part in the Frobenius norm (of SO(n)
/// and SE(n): translations, and the whole rotation matrix): that of the orthonormal logarithm to third order.
template <class G, class T, int blocks>
inline Vector<T, blocks> frobenius_squares(const typename G::template Element<T>& g) {
  constexpr const LieBlock* parts = block_tables[static_cast<int>(G::group)];
  static_assert(blocks == block_count(G::group));
  Vector<T, blocks> squares = zeros<T, blocks>();
  const Matrix<T, G::matrix> sides[2] = {G::to_matrix(g) - diagonal<T, G::matrix>(T(1)),
                                         G::to_matrix(G::inverse(g)) - diagonal<T, G::matrix>(T(1))};
  for (const auto& side : sides) {
    if constexpr (is_rigid(G::group)) {
      for (int i = 0; i < G::dimension; ++i) {
        for (int j = 0; j < G::matrix; ++j) {
          const int block = j < G::dimension ? blocks - 1 : 0;
          squares[block] += T(0.5) * side[i][j] * side[i][j];
        }
      }
    } else {
      const auto w = G::vee(side);
      constexpr const double* scale = norm_tables[static_cast<int>(G::group)];
      for (int b = 0; b < blocks; ++b) {
        for (int k = parts[b].begin; k < parts[b].begin + parts[b].size; ++k) {
          squares[b] += T(0.5 * scale[k] * scale[k]) * w[k] * w[k];
        }
      }
    }
  }
  return squares;
}

/// w and its margin where det > 0; else w = 0 and -1, or NaN.
template <class G, class T>
inline typename G::template Tangent<T> beyond_polar(typename G::template Tangent<T> w, const T& inside,
                                                    const T& det, T& margin) {
  const auto regular = det > T(0);
  const auto number = regular | (det < T(1));
  margin = select(regular, inside, select(number, T(-1), det));
  for (int k = 0; k < G::dof; ++k) {
    w[k] = select(regular, w[k], select(number, T(0), det));
  }
  return w;
}

/// The nearest rotation to A, det A > 0: the limit of Newton's iteration for the polar factor, Q <- (s Q +
/// (s Q)^-T)/2, with the scale s of Frobenius norms that makes it fast for every condition. Two steps beyond
/// the limit for its derivatives.
template <class T>
inline Matrix<T, 3> nearest_rotation(const Matrix<T, 3>& A) {
  Matrix<T, 3> Q = (T(1) / sqrt_of(squared_norm(A))) * A;
  for (int step = 0, more = 2; step < 16 && more > 0; ++step) {
    const Matrix<T, 3> cofactors = transposed(exact_adjugate(Q));
    const T over = T(1) / determinant(Q, transposed(cofactors));
    const T size = sqrt_of(squared_norm(Q)), opposite = over * sqrt_of(squared_norm(cofactors));
    const T scale = sqrt_of(opposite / size);
    const Matrix<T, 3> next = (T(0.5) * scale) * Q + (T(0.5) * over / scale) * cofactors;
    more -= any(squared_norm(next - Q) > T(1e-18)) ? 0 : 1;
    Q = next;
  }
  return Q;
}

/// A = Q P, Q the nearest rotation, P positive: w = (t, log Q, log P). Defined where det A > 0 but for
/// half-turns Q; not antisymmetric. SO(n) and SE(n): P = 1. `margin`: pi minus the angle of Q, -1 for
/// det A <= 0, where w = 0. Of NaN comes NaN.
template <class T>
inline Vector<T, 6> polar_log(AFF2, const Vector<T, 6>& g, T& margin) {
  const Matrix<T, 2> given = AFF2::linear(g);
  const T det = determinant(given);
  const auto regular = det > T(0);
  const Matrix<T, 2> A = select(regular, given, diagonal<T, 2>(T(1)));
  const Vector<T, 2> q = SO2::from_matrix(A);
  const Matrix<T, 2> P = transposed(SO2::to_matrix(q)) * A;
  Matrix<T, 2> X, F;
  AFF2::log_matrices(T(0.5) * (P + transposed(P)), X, F);
  Vector<T, 6> w = AFF2::coordinates(X, AFF2::translation(g));
  w[2] = SO2::log(q)[0];
  return beyond_polar<AFF2>(w, SO2::margin(q), det, margin);
}
template <class T>
inline Vector<T, 12> polar_log(AFF3, const Vector<T, 12>& g, T& margin) {
  const Matrix<T, 3> given = AFF3::linear(g);
  const T det = determinant(given, exact_adjugate(given));
  const auto regular = det > T(0);
  const Matrix<T, 3> A = select(regular, given, diagonal<T, 3>(T(1))), Q = nearest_rotation(A);
  const Matrix<T, 3> P = transposed(Q) * A;
  Matrix<T, 3> X, F;
  AFF3::log_matrices(T(0.5) * (P + transposed(P)), X, F);
  Vector<T, 12> w = AFF3::coordinates(X, AFF3::translation(g));
  const Vector<T, 4> q = SO3::from_matrix(Q);
  const Vector<T, 3> turn = SO3::log(q);
  for (int k = 0; k < 3; ++k) {
    w[3 + k] = turn[k];
  }
  return beyond_polar<AFF3>(w, SO3::margin(q), det, margin);
}
template <class G, class T>
  requires(is_rigid(G::group))
inline typename G::template Tangent<T> polar_log(G, const typename G::template Element<T>& g, T& margin) {
  typename G::template Tangent<T> w = G::log(g);
  for (int k = 0; k < G::dof && G::matrix > G::dimension && k < G::dimension; ++k) {
    w[k] = g[k];
  }
  margin = G::margin(g);
  return w;
}

}  // namespace WEYL_ISA::lie
}  // namespace weyl::kernels
