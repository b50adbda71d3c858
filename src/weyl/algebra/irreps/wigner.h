#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

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
