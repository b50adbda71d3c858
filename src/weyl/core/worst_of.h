#pragma once

namespace weyl {

/// The larger of two errors, and NaN when either is: std::max(worst, NaN) would be `worst`, and what came out
/// as no number at all would pass for an error of nothing.
constexpr double worst_of(double a, double b) {
  return a < b || b != b ? b : a;
}

}  // namespace weyl
