#include "weyl/saved/saved_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <set>
#include <vector>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/version.h"
#include "weyl/tasks/task.h"

namespace weyl {
void put_tensors(NamedTensors& into, std::string_view prefix, const NamedTensors& tensors) {
  for (const auto& [name, t] : tensors) {
    into[std::string(prefix) + name] = t;
  }
}

NamedTensors take_tensors(NamedTensors& tensors, std::string_view prefix) {
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
    put_tensors(tensors, task_prefix, saved.task->state());
  }
  return tensors;
}

void require_weights(const std::vector<Parameter>& parameters, const NamedTensors& tensors,
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

std::unique_ptr<Task> saved_task(const TaskOptions& options, const ModelSummary& summary,
                                 const NamedTensors& statistics, const std::string& where) {
  if (summary.task.empty()) {
    return nullptr;
  }
  return of_the_file(where, [&] {
    auto task = make_task(options);
    task->load(statistics);
    return task;
  });
}

std::shared_ptr<Model> saved_architecture(const ModelOptions& options, const ModelSummary& summary,
                                          const Systems& systems, at::Device device, at::ScalarType dtype,
                                          const std::string& where) {
  const BuildOn build_on(device, dtype);
  return of_the_file(where, [&] { return build(options, summary.interface, systems); });
}

ModelSummary summarise(const SavedModel& saved) {
  ModelSummary s;
  const Symmetry symmetry = saved.model->symmetry();
  s.weyl_version = version();
  s.system = system_name(saved.recipe.model);
  s.carrier = name_of(carrier_of(saved.interface));
  s.task = saved.task ? saved.task->name() : "";
  s.dtype = saved.model->dtype() == at::kDouble ? "float64" : "float32";
  s.recipe = saved.recipe.text;
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
  require_weights(parameters, tensors, where);
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
  const NamedTensors statistics = take_tensors(tensors, task_prefix);
  take_tensors(tensors, optimiser_prefix);  // of a state.safetensors
  take_tensors(tensors, average_prefix);
  SavedModel saved;
  saved.recipe = read_saved_recipe(summary.recipe, where, options_of(systems));
  saved.interface = summary.interface;
  saved.trained_on = summary.trained_on;
  saved.metadata = file.header().metadata;
  const at::ScalarType wanted = dtype.value_or(summary.dtype == "float64" ? at::kDouble : at::kFloat);
  const auto make = [&](at::Device on) {
    return saved_architecture(saved.recipe.model, summary, systems, on, wanted, where);
  };
  // Shapes before anything is built, so that a header cannot ask for more memory than its file has.
  require_weights(make(at::kMeta)->parameters(), tensors, where);
  saved.model = make(device);
  load_parameters(*saved.model, tensors, where);
  saved.model->train(false);
  saved.task = saved_task(saved.recipe.task, summary, statistics, where);
  return saved;
}

}  // namespace weyl
