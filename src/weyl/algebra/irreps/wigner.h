#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

/// Clebsch-Gordan coefficients C^{l m}_{l1 m1 l2 m2} = <l1 m1 l2 m2 | l m>, real, with the phases of Condon
/// and Shortley (<l1 l1 l2 l-l1 | l l> > 0). Orders m run from -l to l. For f1, f2 of degrees l1, l2 that
/// turn by D_l1, D_l2 (wigner.h) the vector sum_{m1 m2} C^{l m}_{l1 m1 l2 m2} f1_m1 f2_m2 turns by D_l, and
/// no other bilinear map does, up to scale. All zero unless |l1 - l2| <= l <= l1 + l2.
class ClebschGordan {
 public:
  /// Degrees from 0 to 64, else ShapeError. Errors below 1e-14 up to degree 8.
  ClebschGordan(int64_t l1, int64_t l2, int64_t l);

  double operator()(int64_t m, int64_t m1, int64_t m2) const {
    return m1 + m2 == m ? values_[((m + l_) * (2 * l1_ + 1) + m1 + l1_) * (2 * l2_ + 1) + m2 + l2_] : 0;
  }
  /// (2l + 1, 2 l1 + 1, 2 l2 + 1), row-major.
  const std::vector<double>& values() const { return values_; }

 private:
  int64_t l1_, l2_, l_;
  std::vector<double> values_;
};

/// |l1 - l2| <= l <= l1 + l2.
constexpr bool triangle(int64_t l1, int64_t l2, int64_t l) {
  return l <= l1 + l2 && l1 <= l + l2 && l2 <= l + l1;
}

/// A (2l+1, 2l+1) matrix of complex numbers, row-major; rows and columns are orders m = -l .. l.
using IrrepMatrix = std::vector<std::complex<double>>;

/// The Wigner matrices D_0 .. D_degree of an orthogonal matrix R (3, 3), row-major, active:
/// Y_l(R p) = D_l(R) Y_l(p), hence D(R1 R2) = D(R1) D(R2); the complex conjugate of the textbook's. Of a
/// reflection they have the parity of the harmonics, D_l(-1) = (-1)^l. Made degree by degree through the
/// coupling of l - 1 and 1, without angles. ShapeError unless R is orthogonal to 1e-6 and degree from 0
/// to 64.
std::vector<IrrepMatrix> wigner(int64_t degree, std::span<const double, 9> rotation);

/// Changes of basis Q_l (unitary): of components f (2l+1) in our basis, f' = Q_l f are those in a real basis.
/// Real parts and imaginary parts of f' are then separate real features that turn by the real matrix
/// Q_l D_l(R) Q_l^H.
///   escnn: real harmonics, polar axis z, orders -l .. l (sines, then cosines), without Condon-Shortley
///   phase; e3nn:  the same with polar axis y, so that degree 1 is (x, y, z).
IrrepMatrix to_escnn(int64_t degree);
IrrepMatrix to_e3nn(int64_t degree);

/// a b and a^H of (n, n) matrices.
IrrepMatrix product(const IrrepMatrix& a, const IrrepMatrix& b, int64_t n);
IrrepMatrix adjoint(const IrrepMatrix& a, int64_t n);

}  // namespace weyl
