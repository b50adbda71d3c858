#pragma once

#include <span>

#include "weyl/algebra/lie/group_list.h"
#include "weyl/core/random.h"

namespace weyl {

/// The operations of one of SO(2), SE(2), SO(3), SE(3), Aff(2) and Aff(3), chosen at run time. T is float or double;
/// the affine groups compute in double for both.
///
/// Elements g are in compact storage (algebra/lie/group_numbers.h). Tangents w have `dof` physical coordinates, in the
/// order translation, rotation, scale, traceless symmetric (algebra/lie/group_list.h). X is the linear part of hat w:
///   so2 (theta), se2 (v, theta), so3 (omega), se3 (v, omega): X = hat of the rotation;
///   aff2 (v, phi, sigma, p, q): X = ((sigma + p, q - phi), (q + phi, sigma - p));
///   aff3 (v, omega, sigma, s01, s02, s12, d1, d2): X = hat(omega) + sigma 1 + off-diagonals s01, s02, s12
///        + d1 diag(1, -1, 0) + d2 diag(1, 1, -2).
/// Matrices are row-major. Perturbations multiply from the right, g exp(e). ShapeError: a span has the wrong size.
/// kernels/lie/pairs.h takes many elements at once.
template <class T>
class Lie {
 public:
  using In = std::span<const T>;
  using Out = std::span<T>;

  explicit Lie(LieGroup of) : group(of) {}
  const LieGroup group;

  void identity(Out g) const;
  /// (A_a A_b, A_a t_b + t_a).
  void compose(In a, In b, Out ab) const;
  /// (A^-1, -A^-1 t).
  void inverse(In g, Out back) const;
  /// a^-1 b = (A_a^-1 A_b, A_a^-1 (t_b - t_a)), the difference of the translations first.
  void between(In a, In b, Out relative) const;
  /// One Newton step of (c, s) or q towards norm 1, in place; to be made after each composition.
  void normalise(Out g) const;
  /// g p, for a point p of n numbers.
  void act(In g, In p, Out moved) const;

  /// exp(hat w) = (e^X, V(X) v), V(X) = int_0^1 e^{rX} dr, for every finite w; NaN otherwise.
  void exp(In w, Out g) const;
  /// log g = (V^-1 t, log A); returns the margin (chart_margin).
  ///   SO(n), SE(n)  at a half-turn (margin 0), one of the two logarithms of norm pi
  ///   affine        w = 0 where the margin is not positive
  T log(In g, Out w) const;
  /// How far g is inside the chart of the logarithm.
  ///   SO(n), SE(n)  pi - theta
  ///   Aff(2)        1 + tr A/(2 sqrt det A)
  ///   Aff(3)        the minimum over x >= 0 of det(A + x)/det A; at most 1, and 0 where rounding cannot tell it from 0
  /// The affine margins are -1 for det A <= 0. They are positive exactly when A has no eigenvalue on the closed
  /// negative half line.
  T chart_margin(In g) const;

  /// (g - g^-1)/2: stands for the logarithm where its chart ends. It is defined on the whole group, odd, and equal to
  /// log g to second order; it vanishes at half-turns.
  void frobenius_log(In g, Out w) const;
  /// (|g - 1|^2 + |g^-1 - 1|^2)/2 for each block (K): a score on the whole group, equal to the squared orthonormal
  /// logarithm to third order. The blocks of rigid groups are those of translations and of rotation matrices.
  void frobenius_squares(In g, Out squares) const;
  /// (t, log Q, log P) of A = Q P, with Q the nearest rotation and P positive; defined where det A > 0 but for
  /// half-turns Q. Returns pi minus the angle of Q. For det A <= 0 it returns -1 with w = 0; NaN gives NaN.
  T polar_log(In g, Out w) const;

  /// V(X) and V(X)^-1, (n, n), with t = V v. ShapeError for SO(n), which has no translations. The inverse exists for w
  /// in the chart's image.
  void integral(In w, Out V) const;
  void integral_inverse(In w, Out V_inverse) const;
  /// Jacobians (dof, dof): exp(w + e) = exp(J_l e) exp(w) = exp(w) exp(J_r e) to first order. Their inverses exist for
  /// w in the chart's image.
  void left_jacobian(In w, Out J) const;
  void right_jacobian(In w, Out J) const;
  void left_jacobian_inverse(In w, Out J) const;
  void right_jacobian_inverse(In w, Out J) const;
  /// (dof, dof): g exp(w) g^-1 = exp(Ad w).
  void adjoint(In g, Out Ad) const;

  /// The gradients by e of a exp(e) and of b exp(e), (dof) each, from a gradient gw by w = log(a^-1 b): they are
  /// -J_l^-T gw and J_r^-T gw, and 0 outside an affine chart.
  void log_adjoint(In a, In b, In gw, Out by_a, Out by_b) const;
  /// The gradient by the numbers of g (compact), from a gradient by e of g exp(e) (dof). For (c, s) and q it is that of
  /// a function that does not depend on their norm.
  void compact_gradient(In g, In by_tangent, Out by_element) const;

  /// hat: w -> its matrix (m, m). vee: the coordinates w of the part of X that is in the algebra.
  void hat(In w, Out X) const;
  void vee(In X, Out w) const;
  /// The matrix (m, m), homogeneous unless m = n.
  void to_matrix(In g, Out matrix) const;
  /// ShapeError when the matrix is off the group by more than `tolerance`; the message says by how much.
  void from_matrix(In matrix, Out g, double tolerance = 1e-4) const;
  /// How far a matrix is off the group: the largest entry of R^T R - 1 and of the last row's difference from (0, ...,
  /// 0, 1). It is infinite for a reflection where the group has none, for a singular affine map, and for numbers that
  /// are not finite.
  double distance(In matrix) const;
  /// |det A| divided by the product of the norms of the rows of A: 1 for a rotation, 0 for a singular map, NaN where
  /// the map overflows.
  double solidity(In matrix) const;
  /// The nearest element: R becomes the nearest rotation in the Frobenius norm (also for a reflection), and the last
  /// row is replaced. ShapeError for numbers that are not finite and for a singular affine map.
  void nearest(In matrix, Out g) const;

  /// A random element: rotations are uniform (Haar), translations are N(0, spread^2). An affine map has A = R exp(S),
  /// with R a uniform rotation and S symmetric with entries N(0, 0.3^2).
  void random(Stream& stream, Out g, double spread = 1) const;

  /// Converts physical to orthonormal coordinates (Frobenius norm of the matrix hat w), and back, in place.
  void to_orthonormal(Out w) const;
  void from_orthonormal(Out w) const;
};

}  // namespace weyl
