#pragma once

#include <vector>

namespace weyl {

/// The value at `fraction` (0 .. 1) of the way through the sorted values, between two of them by linear
/// interpolation; 0.5 is the median. NaN without values.
double quantile(std::vector<double> values, double fraction);

inline double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace weyl
