#include "weyl/app/scale_numbers.h"

#include <cmath>
#include <cstdio>

namespace weyl {

std::string number(double value, const char* format) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return std::isnan(value) ? "-" : buffer;
}

std::string percent(double log_error) {
  return number(100 * std::expm1(log_error), "%.2g") + " %";
}

std::string with_interval(const Estimate& estimate) {
  const std::string value = number(estimate.value, "%.3g");
  return std::isnan(estimate.low)
             ? value
             : value + " (" + number(estimate.low, "%.3g") + ", " + number(estimate.high, "%.3g") + ")";
}

const char* sentence_of(MinimumKind kind) {
  return kind == MinimumKind::inside      ? "inside the sizes tried"
         : kind == MinimumKind::smallest  ? "a bound: the best size is this or smaller"
         : kind == MinimumKind::largest   ? "a bound: the best size is this or larger"
         : kind == MinimumKind::not_clear ? "not clear: the losses form no valley"
                                          : "fewer than three sizes";
}

}  // namespace weyl
