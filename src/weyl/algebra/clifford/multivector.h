// Multivectors of G(3,0,1) over any number: float, double, the dual numbers of algebra/lie/dual.h. The formulas never
// branch on a number. What runs on many multivectors at a time unrolls the tables of blades.h instead.
#pragma once

#include <array>

#include "weyl/algebra/clifford/blades.h"
#include "weyl/algebra/lie/matrix.h"

namespace weyl::clifford {

namespace numbers = kernels::WEYL_ISA::lie;
// Called without their namespace, so that those of other numbers are found beside them.
using numbers::abs_of, numbers::atan2_of, numbers::select, numbers::sqrt_of;
using numbers::Matrix, numbers::Vector;

/// The 16 components in the order of Blade. With e0 = 0 it is the plane at infinity; vectors are planes, bivectors
/// lines, trivectors points.
template <class T>
using Multivector = std::array<T, components>;

template <class T>
Multivector<T> zero() {
  Multivector<T> y;
  y.fill(T(0));
  return y;
}
/// `value` times one basis blade.
template <class T>
Multivector<T> blade(Blade which, const T& value) {
  Multivector<T> y = zero<T>();
  y[which] = value;
  return y;
}
template <class T>
Multivector<T> sum(const Multivector<T>& x, const Multivector<T>& y) {
  Multivector<T> z;
  for (int i = 0; i < components; ++i) {
    z[i] = x[i] + y[i];
  }
  return z;
}
template <class T>
Multivector<T> scaled(const T& factor, const Multivector<T>& x) {
  Multivector<T> y;
  for (int i = 0; i < components; ++i) {
    y[i] = factor * x[i];
  }
  return y;
}
template <class T>
Multivector<T> with_signs(const Signs& signs, const Multivector<T>& x) {
  Multivector<T> y;
  for (int i = 0; i < components; ++i) {
    y[i] = signs[i] < 0 ? -x[i] : x[i];
  }
  return y;
}
/// The part of grade k, 0 .. 4.
template <class T>
Multivector<T> grade(int k, const Multivector<T>& x) {
  Multivector<T> y = zero<T>();
  for (int i = grade_begin[k]; i < grade_begin[k + 1]; ++i) {
    y[i] = x[i];
  }
  return y;
}

/// Any of the products of blades.h: z_out = sum sign x_left y_right.
template <int terms, class T>
Multivector<T> product(const Product<terms>& table, const Multivector<T>& x, const Multivector<T>& y) {
  Multivector<T> z = zero<T>();
  for (const Term& term : table) {
    const T value = x[term.left] * y[term.right];
    if (term.sign < 0) {
      z[term.out] -= value;
    } else {
      z[term.out] += value;
    }
  }
  return z;
}
/// x y.
template <class T>
Multivector<T> geometric_product(const Multivector<T>& x, const Multivector<T>& y) {
  return product(geometric_terms, x, y);
}
/// x ^ y: where planes and lines meet.
template <class T>
Multivector<T> outer_product(const Multivector<T>& x, const Multivector<T>& y) {
  return product(outer_terms, x, y);
}
/// J(x, y) = dual(dual(x) ^ dual(y)): the line through two points, the plane through a line and a point. It changes
/// its sign under reflections; the equivariant join of GATr is e123 of a reference times it.
template <class T>
Multivector<T> join(const Multivector<T>& x, const Multivector<T>& y) {
  return product(join_terms, x, y);
}

/// The right complement, e_A ^ dual(e_A) = e0123. Its own inverse on even grades; on odd ones dual(dual(x)) = -x.
template <class T>
Multivector<T> dual(const Multivector<T>& x) {
  Multivector<T> y;
  for (int i = 0; i < components; ++i) {
    y[i] = dual_signs[i] < 0 ? -x[components - 1 - i] : x[components - 1 - i];
  }
  return y;
}
/// x~, the order of the vectors of each blade reversed: (x y)~ = y~ x~.
template <class T>
Multivector<T> reverse(const Multivector<T>& x) {
  return with_signs(reverse_signs, x);
}
/// Every vector changes its sign: of the whole, odd grades do.
template <class T>
Multivector<T> involution(const Multivector<T>& x) {
  return with_signs(involution_signs, x);
}

/// <x, y> = (x~ y)_0, the sum over the eight components without e0: not negative of (x, x), unchanged by motions.
template <class T>
T inner_product(const Multivector<T>& x, const Multivector<T>& y) {
  T total(0);
  for (const int i : inner_indices) {
    total += x[i] * y[i];
  }
  return total;
}

/// How x moves under a versor u, a product of reflections or a multiple of one: u x u^-1 of an even one, u x^ u^-1 of
/// an odd one, x^ the involution of x, u^-1 = u~/(u u~)_0. So a plane that is reflected in itself changes its side,
/// and an embedded point becomes minus the embedded mirror image. u must be even or odd, not a mixture, with
/// (u u~)_0 not 0: NaN or infinity otherwise. Of an even u that is no motor, (u u~)_4 not 0, only the odd grades of
/// the result are those of a motion.
template <class T>
Multivector<T> sandwich(const Multivector<T>& u, const Multivector<T>& x) {
  // u x of the even part of u plus u x^ of its odd part, of which one is 0: without asking which.
  const Multivector<T> other = involution(u);
  Multivector<T> even = x, odd = x;
  for (int i = 0; i < components; ++i) {
    (involution_signs[i] < 0 ? even : odd)[i] = T(0);
  }
  const Multivector<T> moved =
      geometric_product(sum(geometric_product(u, even), geometric_product(other, odd)), reverse(u));
  return scaled(T(1) / inner_product(u, u), moved);
}

/// The matrix of x -> sandwich(u, x), (16, 16) row-major: y_i = sum_j of m[16 i + j] x_j.
template <class T>
std::array<T, components * components> sandwich_matrix(const Multivector<T>& u) {
  std::array<T, components * components> matrix;
  for (int j = 0; j < components; ++j) {
    const Multivector<T> column = sandwich(u, blade(static_cast<Blade>(j), T(1)));
    for (int i = 0; i < components; ++i) {
      matrix[components * i + j] = column[i];
    }
  }
  return matrix;
}

}  // namespace weyl::clifford
