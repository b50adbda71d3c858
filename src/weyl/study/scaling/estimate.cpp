#include "weyl/study/scaling/estimate.h"

#include <cmath>

#include "weyl/core/quantile.h"

namespace weyl {

Estimate basic_interval(double value, std::vector<double> resampled, Spread spread) {
  Estimate estimate{.value = value};
  const size_t all = resampled.size();
  if (spread == Spread::logarithmic) {
    for (double& x : resampled) {
      x = std::log(x);
    }
  }
  std::erase_if(resampled, [](double x) { return !std::isfinite(x); });
  if (resampled.empty() || !std::isfinite(value) || 100 * (all - resampled.size()) > all) {
    return estimate;
  }
  const double centre = spread == Spread::logarithmic ? std::log(value) : value;
  const double low = 2 * centre - quantile(resampled, 0.975), high = 2 * centre - quantile(resampled, 0.025);
  estimate.low = spread == Spread::logarithmic ? std::exp(low) : low;
  estimate.high = spread == Spread::logarithmic ? std::exp(high) : high;
  return estimate;
}

}  // namespace weyl
