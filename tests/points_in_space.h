// Points in space as rows of three numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "weyl/core/random.h"

namespace weyl {

inline std::vector<double> drawn(int64_t count, uint64_t seed = 1) {
  Stream stream(seed, "points");
  std::vector<double> points(3 * count);
  std::ranges::generate(points, [&] { return stream.normal(); });
  return points;
}

/// All places of a cubic lattice: many distances are equal, and exact.
inline std::vector<double> lattice(int64_t side) {
  std::vector<double> points;
  for (int64_t i = 0; i < side * side * side; ++i) {
    for (const int64_t x : {i % side, i / side % side, i / side / side}) {
      points.push_back(static_cast<double>(x));
    }
  }
  return points;
}

/// The squared distance of two of them.
inline double square(const std::vector<double>& points, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t d = 0; d < 3; ++d) {
    const double x = points[3 * a + d] - points[3 * b + d];
    sum += x * x;
  }
  return sum;
}

}  // namespace weyl
