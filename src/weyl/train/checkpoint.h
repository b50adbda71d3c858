#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "weyl/core/tensor_file.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/task.h"
#include "weyl/train/model_summary.h"
#include "weyl/train/recipe.h"
#include "weyl/train/train_state.h"

namespace weyl {

class Average;
class Optimiser;

/// A model as a file holds it: everything that another program needs to use it.
struct SavedModel {
  Recipe recipe;  // as resolved; data and train for the record
  Interface interface;
  std::shared_ptr<Model> model;
  std::unique_ptr<Task> task;  // with its fitted statistics; null for imported weights without a task
  SampleFacts trained_on;      // of files that say nothing of it, and of weights from elsewhere: empty
  /// As read: all of the file's; when it is written: these beside (or over) its own.
  std::map<std::string, std::string> metadata;
};

/// Everything that the header of its file will say. `step`, `epoch` and the metric are the caller's.
ModelSummary summarise(const SavedModel& saved);

/// Writes `model.safetensors`: weights by name, the task's statistics as "task.<name>", metadata (see
/// ModelSummary). Atomic: the file is whole or untouched.
void save_model(const std::string& path, const SavedModel& saved, Existing existing = Existing::replace);
void save_model(const std::string& path, const SavedModel& saved, const ModelSummary& summary,
                Existing existing = Existing::replace);

/// Reads one on `device` in `dtype` (of the file when undefined), in evaluation mode. `path` is a model file
/// or a run folder (its `best` checkpoint). Never executes anything. DataError: a missing, unexpected or
/// misshaped tensor by name, a non-finite weight, an unknown format version.
SavedModel load_model(const std::string& path, at::Device device = at::kCPU,
                      std::optional<at::ScalarType> dtype = {}, const Systems& systems = built_in_systems());

/// Copies tensors into a model's parameters by name. DataError naming the first missing, unexpected,
/// misshaped or non-finite one; then no parameter has changed.
void load_parameters(Model& model, const NamedTensors& tensors, const std::string& where);

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
