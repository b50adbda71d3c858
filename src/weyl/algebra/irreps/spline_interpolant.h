#pragma once

#include <cstdint>
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

}  // namespace weyl
