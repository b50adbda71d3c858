#pragma once

#include <cmath>
#include <optional>

namespace weyl {

/// What one validation says of a model by the metric that picks the best one.
struct Score {
  double value = 0;
  double left_out =
      0;  // results so bad that they have no number, which `value` therefore lacks (MetricName::left_out)

  bool operator==(const Score&) const = default;
};

/// Whether a score is better than the best so far. Of two the one that leaves fewer results out is better, whatever the
/// values, and of as many the one of the better value: a model must not win by failing where others are measured. A value
/// that is not finite is never better; without a best so far any other is.
inline bool is_better(const Score& score, const std::optional<Score>& best, bool lower_is_better) {
  if (!std::isfinite(score.value)) {
    return false;
  }
  if (!best || score.left_out != best->left_out) {
    return !best || score.left_out < best->left_out;
  }
  return lower_is_better ? score.value < best->value : score.value > best->value;
}

}  // namespace weyl
