#pragma once

#include <memory>
#include <string>

#include "weyl/core/tensor_file.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/task.h"
#include "weyl/train/recipe.h"

namespace weyl {

constexpr int64_t checkpoint_format = 1;

/// A model as a file holds it: everything that another program needs to use it.
struct SavedModel {
  Recipe recipe;           // as resolved; data and train for the record
  Interface interface;
  Carrier carrier = Carrier::points;
  std::shared_ptr<Model> model;
  std::unique_ptr<Task> task;    // with its fitted statistics; null for imported weights without a task
  std::map<std::string, std::string> metadata;
};

/// Writes `model.safetensors`: weights by name, the task's statistics as "task.<name>", metadata (format_version,
/// recipe as TOML, interface as JSON, symmetry, carrier, weyl version). Atomic.
void save_model(const std::string& path, const SavedModel& saved);

/// Reads one on `device` in `dtype` (of the file when undefined). `path` is a model file or a run folder (its `best`
/// checkpoint). Never executes anything. DataError: a missing, unexpected or misshaped tensor by name, a non-finite
/// weight, an unknown format version.
SavedModel load_model(const std::string& path, at::Device device = at::kCPU,
                      std::optional<at::ScalarType> dtype = {});

/// The model file of a path: itself, or RUN/best/model.safetensors (RUN/last when there is no best). DataError.
std::string model_file(const std::string& path);

/// Copies tensors into a model's parameters by name. DataError naming the first missing, unexpected or misshaped one.
void load_parameters(Model& model, const NamedTensors& tensors, const std::string& where);

}  // namespace weyl
