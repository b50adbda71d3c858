#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "weyl/saved/saved_model.h"
#include "weyl/train/recipe.h"
#include "weyl/train/train_state.h"

namespace weyl {

class Average;
class Optimiser;

/// Writes RUN/last/ as a whole: model.safetensors (averaged weights when there is an average) and
/// state.safetensors (weights as they are, optimiser, average, TrainState). The folder is made beside, synced
/// and exchanged in one rename, so that `last` is whole at any instant; the one before it stays as
/// RUN/previous/. `before` holds parameters as they were at the instant of `state`, where they have changed since.
/// Nothing but the disk changes: it may be called while another thread computes with the model.
void save_checkpoint(const std::string& run, const SavedModel& saved, const TrainState& state,
                     const Optimiser& optimiser, const Average* average, const NamedTensors& before = {});

/// Writes RUN/best/model.safetensors: the model as it stands, and the validation metric that made it the
/// best.
void save_best(const std::string& run, const SavedModel& saved, const TrainState& state, double epoch,
               const std::string& metric, const MetricValue& value);

/// What a state.safetensors holds. One file is read, so nothing of two checkpoints can mix.
struct Resumed {
  std::string file;
  Recipe recipe;
  ModelSummary summary;
  TrainState state;
  NamedTensors weights, optimiser, average, task;
  /// A line that says which newer checkpoint is damaged or missing, and that this one took its place; empty: none.
  std::string instead;
  /// Whether the data are known to be others than those that it was trained on.
  bool data_changed = false;
};

/// The newest checkpoint of a run from which a training can go on, all of whose parts fit one another: RUN/last, or
/// RUN/previous when that one is damaged. DataError when there is none: what is wrong with each. UnreadableError when
/// the system does not open or read a file of it: that is no damage, and no reason to fall back.
Resumed read_checkpoint(const std::string& run, const Systems& systems = built_in_systems());

}  // namespace weyl
