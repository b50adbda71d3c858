#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weyl/train/trainer.h"

namespace weyl {

/// What a caller chooses about a training beside its recipe.
struct TrainRequest {
  std::string out;  // the run's folder; empty: runs/<name>-001, the first free number
  std::string name = "run";
  at::Device device = at::kCPU;
  /// Threads of the engine meanwhile. 0: of a new run what the rule of train/threads.h says of model and batch, at most
  /// those the engine has (OMP_NUM_THREADS: that many), of a resumed one as many as it began with.
  int64_t threads = 0;
  /// The caller's own, in place of what the recipe names (which is recorded as `tensors` with their
  /// interface); to resume such a run, give them again.
  std::optional<Splits> data;
  const Systems* systems = nullptr;  // null: those that come with weyl
  TrainObserver* observer = nullptr;
  std::function<bool()> stop;  // asked between steps: true saves and ends with Ending::interrupted
  Leave leave;                 // when given: ends the process from within a step (Trainer::leave_by)
  /// Of a resumed run: a new budget, "train.epochs=20", or another form of linear maps, "model.platonic.linear=dense";
  /// and whether its data may be others than those that it was trained on.
  std::vector<std::string> changes;
  bool data_changed = false;
  /// Whether what is only likely to be wrong (an option without effect, a doubt about units, a feature that changes
  /// nothing) is an error in place of a line to the observer.
  bool strict = false;
};

/// Trains what a recipe says. Data are opened once (`observer->opened`), nothing is written before data,
/// labels, model and options have been found to fit, and the model to see its input (check_sight; what else that found
/// is noted). ConfigError, DataError as of its parts; Error when the loss is no longer finite (see Trainer). Doubts about
/// the data (data/files/doubts.h) and options without effect (config/idle.h) are lines to the observer. ConfigError, too,
/// for a feature that the task learns (label_features.h).
TrainResult train(const Recipe& recipe, const TrainRequest& request);

/// Continues a run from its newest whole checkpoint (from its config.toml when it was ended before the first one). A
/// run that is already at its end only reports. Its data are those of the folder that it was started in
/// (data_of_run). Takes as many threads as the run began with (its bits depend
/// on them) unless `request.threads` says otherwise, and the budget of config.toml unless `request.changes` do.
/// `request.out` and `name` are not used. What is not as it was (a damaged checkpoint or log, another machine,
/// another budget) is a line to the observer. ConfigError: `changes` have other keys; DataError: no checkpoint is
/// whole, another training is using the folder, the data have changed.
TrainResult resume(const std::string& run, const TrainRequest& request);

}  // namespace weyl
