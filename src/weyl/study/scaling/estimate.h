#pragma once

#include <limits>
#include <vector>

namespace weyl {

/// A number that was fitted, and its 95 % interval. NaN: not known.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// How a quantity is spread: exponents about themselves, what is positive and may be a power of ten off (A, N*, a ratio)
/// in its logarithm.
enum class Spread { plain, logarithmic };

/// The basic bootstrap interval [2 q - q(97.5 %), 2 q - q(2.5 %)] of a value from those of resamples; of a logarithmic
/// spread in logarithms. No interval without resamples, or when more than one in a hundred has no finite value.
Estimate basic_interval(double value, std::vector<double> resampled, Spread spread);

}  // namespace weyl
