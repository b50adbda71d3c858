#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace weyl {

/// exp(i k angle) for k = 0 .. orders - 1. A turn of the plane by a multiplies them by exp(i k a).
std::vector<std::complex<double>> circular_harmonics(int64_t orders, double angle);

/// Spherical harmonics Y_l^m of the direction of a point, degrees 0 to `degree`, m from -l to l, one after
/// the other, (degree + 1)^2 in all: orthonormal on the sphere, polar axis z, with the phase of Condon and
/// Shortley (as SciPy's sph_harm_y). Y_l^-m = (-1)^m conj(Y_l^m). The length of the point does not matter; at
/// the origin, which has no direction, Y_0 alone is not zero. ShapeError unless degree is from 0 to 64 and
/// the point finite.
std::vector<std::complex<double>> spherical_harmonics(int64_t degree, std::span<const double, 3> point);

}  // namespace weyl
