#include "weyl/app/axis_tics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weyl {
namespace {

constexpr double kCharacter = 7.5, kGap = 16;  // pixels of the fonts of our figures
constexpr double kMost = 8;                    // marks beside the first
constexpr char kThousands[] = " kMGTPEZY";

/// `value` in thousands to the power `power`, with as many digits as multiples of a step of 10^`decade` have.
std::string label(double value, int power, double largest, int decade) {
  const int digits = static_cast<int>(std::floor(std::log10(largest) + 1e-9)) - decade + 1;
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*g", std::clamp(digits, 6, 15), value / std::pow(1000, power));
  const std::string number = buffer;
  return power > 0 && value != 0 ? number + kThousands[power] : number;
}

}  // namespace

AxisTics axis_tics(double low, double high, double pixels, bool whole) {
  const double span = high - low, largest = std::max(std::abs(low), std::abs(high));
  const int power = largest < 1e6 || largest >= 1e27 ? 0 : static_cast<int>(std::log10(largest) / 3 + 1e-9);
  AxisTics tics{low, high, {}};
  if (!std::isfinite(span) || span <= 1e-12 * largest) {
    return tics;
  }
  for (int decade = static_cast<int>(std::floor(std::log10(span / kMost)));; ++decade) {
    for (const int factor : {1, 2, 5}) {
      const double step = factor * std::pow(10, decade);
      const double first = whole ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9),
                   last = whole ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
      if (last - first > kMost) {
        continue;
      }
      AxisTics wider{std::min(low, first * step), std::max(high, last * step), {}};
      size_t longest = 0;
      for (int k = 0; k <= last - first; ++k) {
        const double n = first + k;
        const double at = n == 0 ? 0 : n * step;  // not -0
        wider.marks.emplace_back(at, label(at, power, largest, decade));
        longest = std::max(longest, wider.marks.back().second.size());
      }
      if (wider.marks.size() < 2) {
        return tics;
      }
      tics = std::move(wider);
      if (step / (tics.high - tics.low) * pixels >= static_cast<double>(longest) * kCharacter + kGap) {
        return tics;
      }
    }
  }
}

}  // namespace weyl
