#include "weyl/core/quantile.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weyl {

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(place));
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<size_t>(below)];
  const double part = place - static_cast<double>(below);
  return part == 0 ? low : low + part * (*std::min_element(values.begin() + below + 1, values.end()) - low);
}

}  // namespace weyl
