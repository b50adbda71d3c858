#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <string_view>
#include <vector>

namespace weyl {

/// Splines through values at 0 .. size-1, whose coefficients go on as in mirrors at the two ends: so that
/// constant values stay constant up to the edge.
class SplineInterpolant {
 public:
  /// degree 0 (nearest, the mean of both halfway) to 5, size from 2. ShapeError else.
  SplineInterpolant(int64_t degree, int64_t size);

  /// The weight of every value (size) in that at x, from 0 to size-1. The weights sum to 1.
  std::vector<double> weights(double x) const;

 private:
  /// The place among 0 .. size-1 where coefficient k is found again.
  int64_t mirrored(int64_t k) const;

  int64_t degree_, size_;
  std::vector<double> inverse_;  // (size, size)
};

/// How a filter that is a harmonic on rings is put on pixels. With r_j = j (size - 1) / (2 rings), j = 1 ..
/// rings, the radii of the rings (the last one touches the kernel's edge) and r the distance of a pixel from
/// the centre:
///   interpolated  integral over the ring (sphere) of harmonic times the interpolant of the pixel: the
///                 response of an interpolated image (mirrored at the kernel's edge), so that orders which
///                 pixels cannot tell apart fade out by themselves
///   gaussian      exp(-(r - r_j)^2 / 2 0.6^2) times the harmonic of the pixel's direction
///   analytic      max(0, 1 - |r - r_j| / r_1) times the same: profiles that add up to one
/// The centre pixel, which has no direction, takes part in order 0 alone of the last two.
enum class RingProfile { interpolated, gaussian, analytic };
constexpr auto names_of(RingProfile) {
  return std::array<std::string_view, 3>{"interpolated", "gaussian", "analytic"};
}

struct RingOptions {
  int64_t size = 5, rings = 2;  // pixels along an axis, 2 to 31; 1 to 16
  RingProfile profile = RingProfile::interpolated;
  int64_t spline = 1;  // degree of the interpolant, 0 (nearest) to 5, of splines through the pixels
  bool cut = true;     // drops what rings do not carry (is_carried)
  /// One more ring, the last, of radius zero: what lies in the middle, of order 0 alone, as large as the first ring's filter.
  bool centre = false;
  bool operator==(const RingOptions&) const = default;
};

/// Whether the pixels of ring 0 .. rings - 1 tell an order (degree) from lower ones: up to pi r_j, and in the
/// plane on the last ring below half the number of pixels on the kernel's edge, 2 (size - 1).
bool is_carried(const RingOptions& options, int64_t dimension, int64_t ring, int64_t order);

/// Filters on the pixels of a square or cubic kernel, in the order component, ring, pixel (row-major, the
/// first axis slowest, the positions p - centre). They turn exactly under the quarter turns of the square,
/// the 24 rotations of the cube, on any kernel.
struct RingFilters {
  int64_t components = 0, rings = 0, pixels = 0;  // rings with that of radius zero
  std::vector<std::complex<double>> values;
  std::vector<bool> kept;  // (components, rings): false where a filter is dropped, whose values are zero

  std::complex<double> operator()(int64_t component, int64_t ring, int64_t pixel) const {
    return values[(component * rings + ring) * pixels + pixel];
  }
};

/// In the plane, of orders k = -highest .. highest (component k + highest): F_k(p) ~ exp(-i k angle(p)), the
/// angle from axis 0 towards axis 1, so that F_k(R_a p) = exp(-i k a) F_k(p) (paper, section 2.4;
/// the harmonics of the authors' code). Interpolated filters are scaled by (j / rings) / rings, the ring's share of the disc.
/// ShapeError for options out of range or highest outside 0 .. 64.
RingFilters circular_filters(int64_t highest, const RingOptions& options);

/// In space, of degrees l = 0 .. highest and orders m = -l .. l (component l (l + 1) + m): F_l(p) ~ sqrt(4 pi
/// / (2l+1)) Y_l(p), so that F_l(R p) = D_l(R) F_l(p) with D of wigner.h, R a rotation of the cube.
/// Interpolated filters are scaled by (j / rings)^2 / (2 rings). ShapeError likewise, highest up to 16.
RingFilters spherical_filters(int64_t highest, const RingOptions& options);

}  // namespace weyl
