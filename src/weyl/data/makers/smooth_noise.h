#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/data/shapes/surface.h"

namespace weyl {

/// A smooth random field of space: octaves of random numbers on periodic lattices, each turned at random so
/// that no axis is preferred, interpolated by a quintic, each octave half as long and half as strong as the
/// one before. Mean about 0, values mostly in (-1, 1).
class SmoothNoise {
 public:
  /// `length` is the distance between the points of the first lattice.
  SmoothNoise(Stream& stream, double length, int octaves = 2);
  double operator()(const std::array<double, 3>& x) const;

 private:
  static constexpr int64_t kPoints = 16;  // of a lattice along each axis
  double length_;
  std::vector<std::vector<float>> lattices_;
  std::vector<Rotation> turns_;
};

}  // namespace weyl
