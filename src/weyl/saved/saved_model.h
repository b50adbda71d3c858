#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "weyl/core/check.h"
#include "weyl/core/tensor_file.h"
#include "weyl/models/systems.h"
#include "weyl/saved/model_summary.h"
#include "weyl/saved/saved_recipe.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// A model as a file holds it: everything that another program needs to use it.
struct SavedModel {
  SavedRecipe recipe;
  Interface interface;
  std::shared_ptr<Model> model;
  std::shared_ptr<Task> task;  // with its fitted statistics; null for imported weights without a task
  SampleFacts trained_on;      // empty where the file does not say it, and for weights from elsewhere
  /// Read: all metadata of the file. To be written: these are added to, or replace, those that the file gets anyway.
  std::map<std::string, std::string> metadata;
};

/// All that the header of the model's file will say. The caller sets `step`, `epoch` and the metric.
ModelSummary summarise(const SavedModel& saved);

/// Writes `model.safetensors`: weights by name, the task's statistics as "task.<name>", metadata (see
/// ModelSummary). Atomic: the file is whole or untouched.
void save_model(const std::string& path, const SavedModel& saved, Existing existing = Existing::replace);
void save_model(const std::string& path, const SavedModel& saved, const ModelSummary& summary,
                Existing existing = Existing::replace);

/// Reads a model on `device` in `dtype` (absent: the file's), in evaluation mode. `path` is a model file or a run
/// folder (its `best` checkpoint). Never executes anything from the file. DataError: a missing, unexpected or misshaped
/// tensor by name, a non-finite weight, an unknown format version.
SavedModel load_model(const std::string& path, at::Device device = at::kCPU,
                      std::optional<at::ScalarType> dtype = {}, const Systems& systems = built_in_systems());

/// Copies tensors into a model's parameters by name. DataError names the first tensor that is missing, unexpected,
/// misshaped or not finite; then no parameter has changed.
void load_parameters(Model& model, const NamedTensors& tensors, const std::string& where);

// What a checkpoint of training is made of, too.

/// Weights by name, and the task's statistics as "task.<name>".
NamedTensors tensors_of(const SavedModel& saved);
/// Adds tensors under their names with a prefix.
void put_tensors(NamedTensors& into, std::string_view prefix, const NamedTensors& tensors);
/// Moves the tensors whose names begin with a prefix out of `tensors`; the result has their names without the prefix.
NamedTensors take_tensors(NamedTensors& tensors, std::string_view prefix);

inline constexpr std::string_view task_prefix = "task.", optimiser_prefix = "optimiser.",
                                  average_prefix = "average.";

/// DataError unless the tensors match the parameters by names, shapes and types, and are finite.
void require_weights(const std::vector<Parameter>& parameters, const NamedTensors& tensors,
                     const std::string& where);

/// Makes what a file describes. A file may be hostile: an error of the construction is the file's (DataError), not the
/// user's.
template <class F>
auto of_the_file(const std::string& where, F&& make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string message = error.what();
    throw DataError(message.starts_with(where) ? message : text(where, ": does not fit itself: ", message));
  }
}

/// A task with the statistics of a file; null when the file names none. DataError: they do not fit.
std::unique_ptr<Task> saved_task(const TaskOptions& options, const ModelSummary& summary,
                                 const NamedTensors& statistics, const std::string& where);

/// The model of a file, without its weights.
std::shared_ptr<Model> saved_architecture(const ModelOptions& options, const ModelSummary& summary,
                                          const Systems& systems, at::Device device, at::ScalarType dtype,
                                          const std::string& where);

}  // namespace weyl
