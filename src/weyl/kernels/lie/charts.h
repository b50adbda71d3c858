// What stands for the logarithm where its chart ends. Both agree with it near the identity and are physical
// coordinates like it.
#pragma once

#include "weyl/kernels/lie/groups.h"

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
  constexpr auto parts = blocks_of(G::group);
  static_assert(blocks == parts.size());
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
      const auto scale = orthonormal_scales(G::group);
      for (int b = 0; b < blocks; ++b) {
        for (int k = parts[b].begin; k < parts[b].begin + parts[b].size; ++k) {
          squares[b] += T(0.5 * scale[k] * scale[k]) * w[k] * w[k];
        }
      }
    }
  }
  return squares;
}

/// A = Q P, Q the nearest rotation, P positive: w = (t, log Q, log P). Defined where det A > 0 but for
/// half-turns Q; not antisymmetric. SO(n) and SE(n): P = 1. `margin`: pi minus the angle of Q, -1 for
/// det A <= 0, where w = 0.
template <class T>
inline Vector<T, 6> polar_log(AFF2, const Vector<T, 6>& g, T& margin) {
  const Matrix<T, 2> given = AFF2::linear(g);
  const auto regular = determinant(given) > T(0);
  const Matrix<T, 2> A = select(regular, given, diagonal<T, 2>(T(1)));
  const Vector<T, 2> q = SO2::from_matrix(A);
  const Matrix<T, 2> P = transposed(SO2::to_matrix(q)) * A;
  Matrix<T, 2> X, F;
  AFF2::log_matrices(T(0.5) * (P + transposed(P)), X, F);
  Vector<T, 6> w = AFF2::coordinates(X, AFF2::translation(g));
  w[2] = SO2::log(q)[0];
  margin = select(regular, SO2::margin(q), T(-1));
  return select(regular, w, zeros<T, 6>());
}
template <class T>
inline Vector<T, 12> polar_log(AFF3, const Vector<T, 12>& g, T& margin) {
  const Matrix<T, 3> given = AFF3::linear(g);
  const auto regular = determinant(given) > T(0);
  const Matrix<T, 3> A = select(regular, given, diagonal<T, 3>(T(1)));
  Matrix<T, 3> Q = A * inverse_of(principal_root(transposed(A) * A, 1));
  for (int step = 0; step < 2; ++step) {  // the root squares the condition: Newton's steps make it good
    Q = T(0.5) * (Q + transposed(inverse_of(Q)));
  }
  const Matrix<T, 3> P = transposed(Q) * A;
  Matrix<T, 3> X, F;
  AFF3::log_matrices(T(0.5) * (P + transposed(P)), X, F);
  Vector<T, 12> w = AFF3::coordinates(X, AFF3::translation(g));
  const Vector<T, 4> q = SO3::from_matrix(Q);
  const Vector<T, 3> turn = SO3::log(q);
  for (int k = 0; k < 3; ++k) {
    w[3 + k] = turn[k];
  }
  margin = select(regular, SO3::margin(q), T(-1));
  return select(regular, w, zeros<T, 12>());
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
