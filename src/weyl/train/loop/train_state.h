#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/train/loop/schedule.h"

namespace weyl {

/// Where a training stands between two steps: all that resuming needs besides weights, optimiser and average.
struct TrainState {
  int64_t step = 0, epoch = 0, batch = 0;  // batch: the loader's, within the epoch
  std::optional<Score> best;               // by the chosen metric, its step, validations since
  int64_t best_step = 0, waited = 0;
  std::optional<double> best_loss;  // loss of the best, which decides between equal values
  Schedule::State schedule;
  double loss_sum = 0, gradient_norm_sum = 0;  // over the steps since the last row of metrics.csv
  int64_t summed = 0;
  /// Tokens of the steps so far. Nothing in files of versions that did not count them.
  std::optional<int64_t> tokens = 0;
  int64_t metrics_bytes = 0;  // length of metrics.csv
  /// Set when a stop came after the last step, but before its validation and its row of metrics.csv: the learning rate
  /// of that step. A resumed run begins with that validation and row.
  std::optional<double> unvalidated;
  bool operator==(const TrainState&) const = default;
};

/// Writes a state as JSON, numbers exact, and reads it back. DataError: an entry is missing, no number, or out of the
/// range that a training can reach; `where` names the file.
std::string to_json(const TrainState& state);
TrainState train_state(std::string_view json, const std::string& where);

}  // namespace weyl
