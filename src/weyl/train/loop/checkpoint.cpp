#include "weyl/train/loop/checkpoint.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>
#include <filesystem>
#include <vector>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/train/loop/average.h"
#include "weyl/train/loop/optimiser.h"
#include "weyl/train/loop/start_from.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {

void save_checkpoint(const std::string& run, const SavedModel& saved, const TrainState& state,
                     const Optimiser& optimiser, const Average* average, const NamedTensors& before) {
  ModelSummary summary = summarise(saved);
  summary.step = state.step;
  summary.epoch = static_cast<double>(state.epoch);
  NamedTensors tensors = tensors_of(saved);
  if (average != nullptr) {
    put_tensors(tensors, "", average->weights());
  }
  put_tensors(tensors, "", before);
  CheckpointFolder folder(run);
  {
    NamedTensors model = tensors;
    if (average != nullptr) {
      put_tensors(model, "", average->averages());
    }
    auto metadata = to_metadata(summary);
    for (const auto& [key, value] : saved.metadata) {
      metadata[key] = value;
    }
    save_tensors(folder.path() + "/model.safetensors", model, metadata);
  }
  put_tensors(tensors, optimiser_prefix, optimiser.state());
  if (average != nullptr) {
    put_tensors(tensors, average_prefix, average->state());
  }
  auto metadata = to_metadata(summary);
  metadata["state"] = to_json(state);
  save_tensors(folder.path() + "/state.safetensors", tensors, metadata);
  folder.commit();
}

void save_best(const std::string& run, const SavedModel& saved, const TrainState& state, double epoch,
               const std::string& metric, const MetricValue& value) {
  ModelSummary summary = summarise(saved);
  summary.step = state.step;
  summary.epoch = epoch;
  summary.metric = metric;
  summary.value = value.value;
  summary.unit = value.unit;
  std::error_code error;
  const bool made = std::filesystem::create_directories(run + "/best", error);
  require<DataError>(!error, run, "/best: folder cannot be made: ", error.message());
  if (made) {
    sync_folder(run);
  }
  save_model(run + "/best/model.safetensors", saved, summary, Existing::replace_link);
}

namespace {

Resumed read_state(const std::string& where, const Systems& systems) {
  Resumed resumed;
  resumed.file = where;
  const SafetensorsFile file(where);
  resumed.summary = read_summary(file.header(), where);
  const auto state = file.header().metadata.find("state");
  require<DataError>(state != file.header().metadata.end(), where,
                     ": metadata must have 'state', which is missing: no training can continue from it");
  resumed.state = train_state(state->second, where + ": metadata 'state'");
  resumed.recipe = read_stored_recipe(resumed.summary.recipe, where, options_of(systems));
  resumed.weights = load_tensors(file);
  resumed.optimiser = take_tensors(resumed.weights, optimiser_prefix);
  resumed.average = take_tensors(resumed.weights, average_prefix);
  resumed.task = take_tensors(resumed.weights, task_prefix);
  return resumed;
}

// Compares the model beside a state, where there is one, with its checksums.
void verify_model(const std::string& file) {
  std::error_code error;
  if (std::filesystem::symlink_status(file, error).type() != std::filesystem::file_type::not_found) {
    SafetensorsFile(file).verify();
  }
}

// Puts a checkpoint into a model of shapes alone, as a training will do with a real one.
void rehearse(const Resumed& resumed, const Systems& systems) {
  const std::string& where = resumed.file;
  const auto model = saved_architecture(resumed.recipe.model, resumed.summary, systems, at::kMeta,
                                        resumed.summary.dtype == "float64" ? at::kDouble : at::kFloat, where);
  of_the_file(where, [&] { freeze_parameters(*model, resumed.recipe.train.freeze); });
  const auto parameters = model->parameters();
  require_weights(parameters, resumed.weights, where);
  const TrainOptions& options = resumed.recipe.train;
  of_the_file(where, [&] {
    Optimiser(parameters, options.optimiser).load(resumed.optimiser, where);
    if (options.average && !resumed.average.empty()) {
      Average(parameters, *options.average).load(resumed.average, where);
    }
  });
  for (const NamedTensors* tensors : {&resumed.optimiser, &resumed.average}) {
    for (const auto& [name, t] : *tensors) {
      require<DataError>(at::isfinite(t).all().item<bool>(), where, ": ", quote(name),
                         " must be finite, got NaN or infinity");
    }
  }
  saved_task(resumed.recipe.task, resumed.summary, resumed.task, where);
}

}  // namespace

Resumed read_checkpoint(const std::string& run, const Systems& systems) {
  const std::vector<std::string> folders = checkpoint_folders(run);
  require<DataError>(!folders.empty(), run,
                     ": must hold a checkpoint to resume from (last/state.safetensors), got none");
  std::string wrong = folders.front().ends_with("/last") ? "" : run + "/last: is missing";
  for (const std::string& folder : folders) {
    try {
      Resumed resumed = read_state(folder + "/state.safetensors", systems);
      rehearse(resumed, systems);
      verify_model(folder + "/model.safetensors");
      if (!wrong.empty()) {
        resumed.instead = text(wrong, "; the run goes on from the checkpoint before it, ", folder,
                               ", of step ", resumed.state.step);
      }
      return resumed;
    } catch (const UnreadableError&) {
      throw;
    } catch (const DataError& error) {
      wrong += (wrong.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw DataError(wrong);
}

}  // namespace weyl
