#include "weyl/train/checkpoint.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <filesystem>
#include <set>
#include <vector>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/sync_folder.h"
#include "weyl/core/version.h"
#include "weyl/train/average.h"
#include "weyl/train/checkpoint_folder.h"
#include "weyl/train/freeze.h"
#include "weyl/train/optimiser.h"
#include "weyl/train/threads.h"

namespace weyl {
namespace {

constexpr std::string_view task_prefix = "task.", optimiser_prefix = "optimiser.",
                           average_prefix = "average.";

void put(NamedTensors& into, std::string_view prefix, const NamedTensors& tensors) {
  for (const auto& [name, t] : tensors) {
    into[std::string(prefix) + name] = t;
  }
}

// Moves the tensors whose names begin with a prefix out, without it.
NamedTensors take_out(NamedTensors& tensors, std::string_view prefix) {
  NamedTensors taken;
  for (auto it = tensors.lower_bound(std::string(prefix));
       it != tensors.end() && it->first.starts_with(prefix);) {
    taken[it->first.substr(prefix.size())] = it->second;
    it = tensors.erase(it);
  }
  return taken;
}

NamedTensors tensors_of(const SavedModel& saved) {
  NamedTensors tensors;
  for (const auto& p : saved.model->parameters()) {
    tensors[p.name] = p.tensor.detach();
  }
  if (saved.task) {
    put(tensors, task_prefix, saved.task->state());
  }
  return tensors;
}

Recipe recipe_of(const ModelSummary& summary, const std::string& where, const ModelOptions& known) {
  Recipe recipe;
  recipe.model = known;
  try {
    read_toml_text(summary.recipe, where + ": metadata 'recipe'", {}, [&](Fields& f) { fields(f, recipe); });
  } catch (const ConfigError& error) {
    throw DataError(error.what());
  }
  return recipe;
}

// What a file claims about itself may be hostile: an error of construction is the file's, not the user's.
template <class F>
auto of_the_file(const std::string& where, F&& make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string message = error.what();
    throw DataError(message.starts_with(where) ? message : text(where, ": does not fit itself: ", message));
  }
}

// A task with the statistics of a file; null when the file names none.
std::unique_ptr<Task> task_of(const Recipe& recipe, const ModelSummary& summary,
                              const NamedTensors& statistics, const std::string& where) {
  if (summary.task.empty()) {
    return nullptr;
  }
  return of_the_file(where, [&] {
    auto task = make_task(recipe.task);
    task->load(statistics);
    return task;
  });
}

// Names, shapes and types before anything is built, so that a header cannot ask for more memory than its file
// has.
void check_shapes(const std::vector<Parameter>& parameters, const NamedTensors& tensors,
                  const std::string& where) {
  std::set<std::string> known;
  for (const auto& p : parameters) {
    const auto found = tensors.find(p.name);
    require<DataError>(found != tensors.end(), where, ": weights must hold ", quote(p.name),
                       ", which is missing");
    require<DataError>(
        found->second.sizes() == p.tensor.sizes() && at::isFloatingType(found->second.scalar_type()), where,
        ": weight ", quote(p.name), " must be real with shape ", shape_text(p.tensor.sizes()), ", got ",
        found->second.scalar_type(), " ", shape_text(found->second.sizes()));
    require<DataError>(at::isfinite(found->second).all().item<bool>(), where, ": weight ", quote(p.name),
                       " must be finite, got NaN or infinity");
    known.insert(p.name);
  }
  for (const auto& [name, t] : tensors) {
    require<DataError>(known.contains(name), where, ": weights have an unexpected tensor ", quote(name));
  }
}

}  // namespace

ModelSummary summarise(const SavedModel& saved) {
  ModelSummary s;
  Recipe recipe = saved.recipe;
  const Symmetry symmetry = saved.model->symmetry();
  s.weyl_version = version();
  s.system = system_name(saved.recipe.model);
  s.carrier = name_of(carrier_of(saved.interface));
  s.task = saved.task ? saved.task->name() : "";
  s.dtype = saved.model->dtype() == at::kDouble ? "float64" : "float32";
  s.recipe = write_toml([&](Fields& f) { fields(f, recipe); });
  s.interface = saved.interface;
  s.trained_on = saved.trained_on;
  for (const auto& claim : symmetry.exact) {
    s.exact.push_back(claim.group);
  }
  for (const auto& claim : symmetry.approximate) {
    s.approximate.push_back(claim.group);
  }
  s.parameters = saved.model->parameter_count();
  s.parameters_real = saved.model->parameter_count_real();
  s.parts = saved.model->parts();
  const Work work = saved.model->work_of_token();
  s.flops_forward = work.forward;
  s.flops_train = training_flops(*saved.model, saved.task.get(), 1);
  s.flops_nominal = work.nominal;
  return s;
}

void save_model(const std::string& path, const SavedModel& saved, const ModelSummary& summary,
                Existing existing) {
  auto metadata = to_metadata(summary);
  for (const auto& [key, value] : saved.metadata) {
    metadata[key] = value;
  }
  save_tensors(path, tensors_of(saved), metadata, existing);
}

void save_model(const std::string& path, const SavedModel& saved, Existing existing) {
  save_model(path, saved, summarise(saved), existing);
}

void load_parameters(Model& model, const NamedTensors& tensors, const std::string& where) {
  const auto parameters = model.parameters();
  check_shapes(parameters, tensors, where);
  const at::NoGradGuard no_grad;
  for (const auto& p : parameters) {
    p.tensor.copy_(tensors.at(p.name));
  }
  model.train(model.training());  // what evaluation mode had cached is stale
}

SavedModel load_model(const std::string& path, at::Device device, std::optional<at::ScalarType> dtype,
                      const Systems& systems) {
  const std::string where = model_file(path);
  const SafetensorsFile file(where);
  const ModelSummary summary = read_summary(file.header(), where);
  NamedTensors tensors = load_tensors(file);
  const NamedTensors statistics = take_out(tensors, task_prefix);
  take_out(tensors, optimiser_prefix);  // of a state.safetensors
  take_out(tensors, average_prefix);
  SavedModel saved;
  saved.recipe = recipe_of(summary, where, options_of(systems));
  saved.interface = summary.interface;
  saved.trained_on = summary.trained_on;
  saved.metadata = file.header().metadata;
  const auto make = [&](at::Device on) {
    const BuildOn build_on(on, dtype.value_or(summary.dtype == "float64" ? at::kDouble : at::kFloat));
    return of_the_file(where, [&] { return build(saved.recipe.model, saved.interface, systems); });
  };
  check_shapes(make(at::kMeta)->parameters(), tensors, where);
  saved.model = make(device);
  load_parameters(*saved.model, tensors, where);
  saved.model->train(false);
  saved.task = task_of(saved.recipe, summary, statistics, where);
  return saved;
}

void save_checkpoint(const std::string& run, const SavedModel& saved, const TrainState& state,
                     const Optimiser& optimiser, const Average* average, const NamedTensors& before) {
  ModelSummary summary = summarise(saved);
  summary.step = state.step;
  summary.epoch = static_cast<double>(state.epoch);
  NamedTensors tensors = tensors_of(saved);
  if (average != nullptr) {
    put(tensors, "", average->weights());
  }
  put(tensors, "", before);
  CheckpointFolder folder(run);
  {
    NamedTensors model = tensors;
    if (average != nullptr) {
      put(model, "", average->averages());
    }
    auto metadata = to_metadata(summary);
    for (const auto& [key, value] : saved.metadata) {
      metadata[key] = value;
    }
    save_tensors(folder.path() + "/model.safetensors", model, metadata);
  }
  put(tensors, optimiser_prefix, optimiser.state());
  if (average != nullptr) {
    put(tensors, average_prefix, average->state());
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
  resumed.recipe = recipe_of(resumed.summary, where, options_of(systems));
  resumed.weights = load_tensors(file);
  resumed.optimiser = take_out(resumed.weights, optimiser_prefix);
  resumed.average = take_out(resumed.weights, average_prefix);
  resumed.task = take_out(resumed.weights, task_prefix);
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
  const BuildOn build_on(at::kMeta, resumed.summary.dtype == "float64" ? at::kDouble : at::kFloat);
  const auto model =
      of_the_file(where, [&] { return build(resumed.recipe.model, resumed.summary.interface, systems); });
  of_the_file(where, [&] {
    freeze_parameters(*model, resumed.recipe.train.freeze);
    return true;
  });
  const auto parameters = model->parameters();
  check_shapes(parameters, resumed.weights, where);
  const TrainOptions& options = resumed.recipe.train;
  of_the_file(where, [&] {
    Optimiser(parameters, options.optimiser).load(resumed.optimiser, where);
    if (options.average && !resumed.average.empty()) {
      Average(parameters, *options.average).load(resumed.average, where);
    }
    return true;
  });
  for (const NamedTensors* tensors : {&resumed.optimiser, &resumed.average}) {
    for (const auto& [name, t] : *tensors) {
      require<DataError>(at::isfinite(t).all().item<bool>(), where, ": ", quote(name),
                         " must be finite, got NaN or infinity");
    }
  }
  task_of(resumed.recipe, resumed.summary, resumed.task, where);
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
