#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "weyl/saved/saved_model.h"
#include "weyl/train/loop/train_state.h"
#include "weyl/train/recipe.h"

namespace weyl {

class Average;
class Optimiser;

/// Writes RUN/last/ as a whole: model.safetensors (averaged weights when there is an average) and state.safetensors
/// (weights as they are, optimiser, average, TrainState). The folder is made beside `last`, synced and exchanged in one
/// rename, so that `last` is whole at any instant; the one before it stays as RUN/previous/. `before` holds parameters
/// that have changed since the instant of `state`, as they were then. Changes nothing but the disk, so that it may run
/// while another thread computes with the model.
void save_checkpoint(const std::string& run, const SavedModel& saved, const TrainState& state,
                     const Optimiser& optimiser, const Average* average, const NamedTensors& before = {});

/// Writes RUN/best/model.safetensors: the present model, and the validation metric that made it the best.
void save_best(const std::string& run, const SavedModel& saved, const TrainState& state, double epoch,
               const std::string& metric, const MetricValue& value);

/// The contents of a state.safetensors. Only that one file is read, so parts of two checkpoints cannot mix.
struct Resumed {
  std::string file;
  Recipe recipe;
  ModelSummary summary;
  TrainState state;
  NamedTensors weights, optimiser, average, task;
  /// A line that says which newer checkpoint is damaged or missing, so that this one takes its place. Empty: none.
  std::string instead;
  /// Whether the data are known to differ from those that the model was trained on.
  bool data_changed = false;
};

/// Reads the newest checkpoint of a run from which a training can go on, all of whose parts fit one another: RUN/last,
/// or RUN/previous when that one is damaged. DataError when there is none, with what is wrong with each.
/// UnreadableError when the system does not open or read one of its files: that is no damage, and no reason to fall
/// back.
Resumed read_checkpoint(const std::string& run, const Systems& systems = built_in_systems());

}  // namespace weyl
