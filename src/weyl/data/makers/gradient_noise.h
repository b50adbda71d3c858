#pragma once

#include <array>
#include <cstdint>

#include "weyl/core/random.h"

namespace weyl {

/// Perlin's gradient noise in the plane, of a period of 256 cells: smooth, zero on the lattice, within about
/// -0.7 .. 0.7, mean 0.
class GradientNoise {
 public:
  explicit GradientNoise(Stream& stream);

  double operator()(double x, double y) const;
  /// sum_{k < octaves} 2^-k noise(2^k x, 2^k y)
  double sum(double x, double y, int octaves) const;

 private:
  std::array<uint8_t, 256> order_;
};

}  // namespace weyl
