#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weyl/train/schedule.h"

namespace weyl {

/// Where a training stands between two steps, beside weights, optimiser and average: all that resuming needs.
struct TrainState {
  int64_t step = 0, epoch = 0, batch = 0;  // batch: of the loader, in the epoch
  std::optional<double> best;  // value of the chosen metric so far, its step, and validations since
  int64_t best_step = 0, waited = 0;
  std::optional<double> best_loss;  // of the best, by which equal values are told apart
  Schedule::State schedule;
  double loss_sum = 0, gradient_norm_sum = 0;  // over the steps since the last row of metrics.csv
  int64_t summed = 0;
  /// Tokens of the steps so far; nothing in the files of versions that did not count them.
  std::optional<int64_t> tokens = 0;
  int64_t metrics_bytes = 0;  // length of metrics.csv
  /// Learning rate of the last step, when a stop came before its validation and its row of metrics.csv were done:
  /// they are what a resumed run begins with.
  std::optional<double> unvalidated;
  bool operator==(const TrainState&) const = default;
};

/// As JSON, numbers exact, and back. DataError: what is missing, no number, or out of the range that a training can
/// reach; `where` names the file.
std::string to_json(const TrainState& state);
TrainState train_state(std::string_view json, const std::string& where);

}  // namespace weyl
