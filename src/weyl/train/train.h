#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weyl/train/loop/trainer.h"

namespace weyl {

/// What a caller chooses about a training beside its recipe.
struct TrainRequest {
  std::string out;  // the run's folder; empty: runs/<name>-001, the first free number
  std::string name = "run";
  at::Device device = at::kCPU;
  /// Threads of the engine during the training. 0 means:
  ///
  /// * resumed run: as many as it began with;
  /// * new run on the CPU: what the rule of train/loop/compute_settings.h gives for model and batch, at most as many as
  ///   the engine has; if OMP_NUM_THREADS is set, that many;
  /// * new run on another device: as many as the engine has.
  int64_t threads = 0;
  /// The caller's own data, in place of those that the recipe names. The run's config records them as `tensors` with
  /// their interface. To resume such a run, give them again.
  std::optional<Splits> data;
  /// The processes that train together (Trainer); null: this one alone. `out` is the first one's; the others write nothing.
  std::shared_ptr<Ranks> ranks;
  const Systems* systems = nullptr;  // null: the systems that come with weyl
  TrainObserver* observer = nullptr;
  std::function<bool()> stop;  // asked between steps: true saves and ends with Ending::interrupted
  OnStopRequest
      on_stop_request;  // if given, ends the process from within a step (Trainer::set_on_stop_request)
  /// For a resumed run. `changes`: a new budget, "train.epochs=20", or another form of linear maps,
  /// "model.platonic.linear=dense". `data_changed`: the data may differ from those that the model was trained on.
  std::vector<std::string> changes;
  bool data_changed = false;
  /// Whether a likely fault (an option without effect, units that are likely others, a feature that changes nothing) is an error
  /// instead of a line to the observer.
  bool strict = false;
};

/// Trains what a recipe says. The data are opened once (`observer->opened`). Nothing is written before data, labels,
/// model and options have been found to fit, and the model to see its input (check_input). The observer gets a line for
/// each warning about the data (data/data_warnings.h), each option without effect (config/unused_options.h), and what
/// else check_input found. ConfigError, DataError: see the parts; ConfigError, too, for a feature that the task learns
/// (label_features.h). Error when the loss is no longer finite (see Trainer).
TrainResult train(const Recipe& recipe, const TrainRequest& request);

/// Checks all that `train` checks before it writes anything, and writes nothing. Returns what the observer would be told.
std::vector<std::string> rehearse(const Recipe& recipe, const TrainRequest& request = {});

/// Continues a run from its newest whole checkpoint or, when it ended before the first one, from its config.toml. A run
/// that is already at its end only reports. The data are found from the folder that the run was started in
/// (data_of_run). Threads are as many as the run began with, because its bits depend on them, unless `request.threads`
/// gives a number. The budget is that of config.toml, unless `request.changes` give another. `request.out` and `name`
/// are not used. The observer gets a line for what is not as it was: a damaged checkpoint or log, another machine,
/// another budget.
///
/// ConfigError: `changes` have other keys. DataError: no checkpoint is whole, another training is using the folder, the
/// data have changed.
TrainResult resume(const std::string& run, const TrainRequest& request);

}  // namespace weyl
