#include "weyl/engine/weyl.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weyl/carriers/atoms_frame.h"
#include "weyl/carriers/tensor_format.h"
#include "weyl/core/check.h"
#include "weyl/core/element_type.h"
#include "weyl/core/elements.h"
#include "weyl/core/fault.h"
#include "weyl/core/json.h"
#include "weyl/core/units.h"
#include "weyl/core/version.h"
#include "weyl/engine/loaded_torch.h"
#include "weyl/saved/atoms.h"
#include "weyl/saved/predictor.h"
#include "weyl/saved/tensors.h"

#define WEYL_EXPORT extern "C" __attribute__((visibility("default")))

struct weyl_model {
  weyl::Predictor predictor;
  size_t members = 1;
  std::string info = {};
  std::vector<int32_t> elements = {};
};

struct weyl_tensors {
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
};

namespace weyl {
namespace {

thread_local std::string last_error;

weyl_status status_of(Fault::Kind kind) {
  switch (kind) {
    case Fault::Kind::usage:
      return WEYL_USAGE;
    case Fault::Kind::shape:
    case Fault::Kind::data:
      return WEYL_DATA;
    case Fault::Kind::memory:
      return WEYL_MEMORY;
    case Fault::Kind::failed:
      break;
  }
  return WEYL_FAILED;
}

/// Runs a call; what it throws becomes a status and a line.
template <class F>
weyl_status guarded(const F& call) noexcept {
  try {
    try {
      call();
      return WEYL_OK;
    } catch (const std::exception& error) {
      Fault fault = fault_of(error);
      last_error = std::move(fault.line);
      return status_of(fault.kind);
    }
  } catch (...) {  // no memory for the line, or no exception of the standard's
    last_error.clear();
    return WEYL_FAILED;
  }
}

template <class T>
void require_given(T* pointer, const char* call, const char* name) {
  require<ConfigError>(pointer != nullptr, call, ": ", name, " must be given, got NULL");
}

/// In Angstrom; nothing where there is none, or lengths have no unit.
std::optional<double> reach_of(const Predictor& predictor) {
  const auto reach = predictor.reach();
  const std::string& unit = predictor.interface().length_unit;
  return reach && !unit.empty() ? std::optional(*reach * unit_factor(unit, "Angstrom")) : std::nullopt;
}

Json info_of(const weyl_model& model, const std::vector<std::string>& paths) {
  const Predictor& predictor = model.predictor;
  const ModelSummary summary = summarise(predictor.saved());
  Json json = Json::object()
                  .set("weyl_version", version())
                  .set("models", Json::array(paths))
                  .set("dtype", predictor.model().dtype() == at::kDouble ? "float64" : "float32")
                  .set("system", summary.system)
                  .set("task", summary.task)
                  .set("carrier", name_of(carrier_of(predictor.interface())))
                  .set("inputs", quantities_json(predictor.interface().features))
                  .set("outputs", quantities_json(predictor.outputs()))
                  .set("elements", Json::array(predictor.interface().elements))
                  .set("length_unit", predictor.interface().length_unit)
                  .set("gradient_forces", predictor.gradient_forces())
                  .set("exact", Json::array(summary.exact))
                  .set("trained_on", summary.recipe)
                  .set("notes", Json::array(predictor.notes()));
  if (const auto reach = reach_of(predictor)) {
    json.set("reach", *reach);
  }
  return json;
}

std::unique_ptr<weyl_model> loaded(const std::vector<std::string>& paths, const char* dtype) {
  PredictorOptions options;
  if (dtype != nullptr) {
    const std::string_view name(dtype);
    require<ConfigError>(name == "float32" || name == "float64",
                         "weyl_load: dtype must be \"float32\" or \"float64\", got \"", name, "\"");
    options.dtype = name == "float64" ? at::kDouble : at::kFloat;
  }
  auto model = std::make_unique<weyl_model>(weyl_model{Predictor(paths.front(), options), paths.size()});
  for (size_t i = 1; i < paths.size(); ++i) {
    model->predictor.join(Predictor(paths[i], options), paths.front(), paths[i]);
  }
  for (const std::string& symbol : model->predictor.interface().elements) {
    model->elements.push_back(std::max(0, atomic_number(symbol)));
  }
  model->info = info_of(*model, paths).dump();
  return model;
}

/// Atoms as the program holds them.
AtomsFrame frame_of(const weyl_atoms& atoms, const char* call) {
  AtomsFrame frame;
  if (atoms.count > 0) {
    require_given(atoms.numbers, call, "numbers");
    require_given(atoms.positions, call, "positions");
    frame.numbers.assign(atoms.numbers, atoms.numbers + atoms.count);
    frame.positions.assign(atoms.positions, atoms.positions + 3 * atoms.count);
  }
  for (const int number : frame.numbers) {
    require<DataError>(number >= 1 && number <= most_elements, call, ": there is no element of number ",
                       number);
  }
  if (atoms.cell != nullptr) {
    std::copy_n(atoms.cell, 9, frame.cell.emplace().begin());
    for (const double x : *frame.cell) {
      require<DataError>(std::isfinite(x), call, ": the cell must be finite, got ", x);
    }
  }
  for (size_t d = 0; d < 3; ++d) {
    frame.pbc[d] = atoms.pbc != nullptr ? atoms.pbc[d] != 0 : atoms.cell != nullptr;
  }
  frame.set("charge", atoms.charge);
  frame.set("spin", atoms.spin);
  return frame;
}

void put(const std::vector<double>& values, double* to) {
  if (to != nullptr) {
    std::ranges::copy(values, to);
  }
}

void put(const std::optional<std::array<double, 9>>& stress, double* to) {
  if (to != nullptr) {
    std::array<double, 9> none;
    none.fill(std::numeric_limits<double>::quiet_NaN());
    std::ranges::copy(stress.value_or(none), to);
  }
}

void put(const EnergyAndForces& found, size_t atoms, const weyl_results& to) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (to.energy != nullptr) {
    *to.energy = found.energy;
  }
  put(found.forces, to.forces);
  put(found.stress, to.stress);
  put(found.energies, to.energies);
  put(found.virials, to.virials);
  if (to.energy_std != nullptr) {
    *to.energy_std = found.deviations ? found.deviations->energy : none;
  }
  put(found.deviations ? found.deviations->forces : std::vector<double>(3 * atoms, none), to.forces_std);
}

void compute(const weyl_model& model, std::span<const weyl_atoms> atoms, const uint8_t* owned,
             std::span<const weyl_results> results, const char* call) {
  const Predictor& predictor = model.predictor;
  Asked asked{.forces = false};
  for (const weyl_results& wanted : results) {
    asked.forces = asked.forces || wanted.forces != nullptr || wanted.forces_std != nullptr;
    asked.stress = asked.stress || wanted.stress != nullptr;
    asked.energies = asked.energies || wanted.energies != nullptr;
    asked.virials = asked.virials || wanted.virials != nullptr;
  }
  const std::vector<Quantity> outputs = predictor.outputs(asked);
  for (const auto& [name, wanted] :
       {std::pair("stress", asked.stress), {"energies", asked.energies}, {"virials", asked.virials}}) {
    require<ConfigError>(!wanted || find_quantity(outputs, name) != nullptr, call, ": the model gives no ",
                         name, ": its forces are no derivatives of the energy, or it has none");
  }
  require<ConfigError>(
      !asked.virials || predictor.reach().has_value(), call,
      ": the model gives no virials of atoms, which need one whose atoms see no farther than a cut-off");
  std::vector<AtomsFrame> frames;
  for (const weyl_atoms& sample : atoms) {
    frames.push_back(frame_of(sample, call));
  }
  if (owned != nullptr) {
    require<ConfigError>(
        predictor.reach().has_value(), call,
        ": needs a model whose atoms see no farther than a cut-off: of others every atom is needed");
    std::vector<int64_t> counted(owned, owned + atoms.front().count);
    asked.owned = at::tensor(counted, at::kLong).ne(0);
  }
  const auto found = energies_and_forces(predictor, frames, asked);
  for (size_t i = 0; i < found.size(); ++i) {
    put(found[i], atoms[i].count, results[i]);
  }
}

constexpr std::array element_types{ElementType::f32, ElementType::f64, ElementType::i64,
                                   ElementType::boolean};  // in the order of weyl_dtype

/// Copies, since the program may go on with its arrays.
NamedTensors copied(std::span<const weyl_tensor> given) {
  NamedTensors tensors;
  for (const weyl_tensor& t : given) {
    require_given(t.name, "weyl_predict", "the name of each tensor");
    const std::string where = text("weyl_predict: ", t.name);
    const auto dtype = static_cast<size_t>(t.dtype);
    require<ConfigError>(dtype < element_types.size(), where, ": there is no such dtype, ", dtype);
    require<ConfigError>(t.axes == 0 || t.shape != nullptr, where, ": its shape must be given");
    const std::span<const int64_t> shape(t.shape, t.axes);
    const auto size = byte_count(element_types[dtype], shape);
    require<ConfigError>(size.has_value(), where, ": there is no tensor of shape ",
                         at::IntArrayRef(t.shape, t.axes));
    require<ConfigError>(*size == 0 || t.data != nullptr, where, ": its data must be given");
    const Tensor copy =
        copy_tensor(element_types[dtype], shape, {static_cast<const std::byte*>(t.data), *size}, where);
    require<ConfigError>(tensors.emplace(t.name, copy).second, where, ": must be given once");
  }
  return tensors;
}

std::unique_ptr<weyl_tensors> predicted(const Predictor& predictor, const NamedTensors& inputs,
                                        bool gradient) {
  TensorFile file = read_tensors(inputs, schema_of(predictor.interface()), "weyl_predict");
  PredictionTensors gathered(predictor);
  gathered.add_all(std::make_shared<InMemory>(std::move(file.batch), std::move(file.schema)), "weyl_predict",
                   gradient ? "weyl_predict: gradient" : "");
  auto result = std::make_unique<weyl_tensors>();
  for (auto& [name, tensor] : gathered.done()) {
    result->names.push_back(name);
    result->tensors.push_back(tensor.contiguous());
  }
  return result;
}

}  // namespace
}  // namespace weyl

using weyl::guarded, weyl::require_given;

WEYL_EXPORT int weyl_api_version(void) {
  return WEYL_API_VERSION;
}

WEYL_EXPORT const char* weyl_version(void) {
  static const std::string version = weyl::version();
  return version.c_str();
}

WEYL_EXPORT const char* weyl_last_error(void) {
  return weyl::last_error.c_str();
}

WEYL_EXPORT weyl_status weyl_load(const char* const* paths, size_t count, const char* dtype, int threads,
                                  weyl_model** model) {
  return guarded([&] {
    require_given(model, "weyl_load", "model");
    *model = nullptr;
    weyl::require<weyl::ConfigError>(paths != nullptr && count > 0, "weyl_load: a path must be given");
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) {
      require_given(paths[i], "weyl_load", "each path");
      names.emplace_back(paths[i]);
    }
    weyl::require_own_torch();
    if (threads > 0) {
      at::set_num_threads(threads);
    }
    *model = weyl::loaded(names, dtype).release();
  });
}

WEYL_EXPORT void weyl_free(weyl_model* model) {
  delete model;
}

WEYL_EXPORT const char* weyl_info(const weyl_model* model) {
  return model != nullptr ? model->info.c_str() : "";
}

WEYL_EXPORT size_t weyl_elements(const weyl_model* model, int32_t* numbers, size_t room) {
  if (model == nullptr) {
    return 0;
  }
  if (numbers != nullptr) {
    std::copy_n(model->elements.begin(), std::min(room, model->elements.size()), numbers);
  }
  return model->elements.size();
}

WEYL_EXPORT double weyl_reach(const weyl_model* model) {
  double angstrom = -1;
  guarded([&] {
    require_given(model, "weyl_reach", "model");
    angstrom = weyl::reach_of(model->predictor).value_or(angstrom);
  });
  return angstrom;
}

WEYL_EXPORT int weyl_gradient_forces(const weyl_model* model) {
  int gradient = 0;
  guarded([&] {
    require_given(model, "weyl_gradient_forces", "model");
    gradient = model->predictor.gradient_forces() ? 1 : 0;
  });
  return gradient;
}

WEYL_EXPORT size_t weyl_members(const weyl_model* model) {
  return model != nullptr ? model->members : 0;
}

WEYL_EXPORT weyl_status weyl_compute(const weyl_model* model, const weyl_atoms* atoms,
                                     const weyl_results* results) {
  return guarded([&] {
    require_given(model, "weyl_compute", "model");
    require_given(atoms, "weyl_compute", "atoms");
    require_given(results, "weyl_compute", "results");
    weyl::compute(*model, {atoms, 1}, nullptr, {results, 1}, "weyl_compute");
  });
}

WEYL_EXPORT weyl_status weyl_compute_batch(const weyl_model* model, size_t samples, const weyl_atoms* atoms,
                                           const weyl_results* results) {
  return guarded([&] {
    require_given(model, "weyl_compute_batch", "model");
    if (samples > 0) {
      require_given(atoms, "weyl_compute_batch", "atoms");
      require_given(results, "weyl_compute_batch", "results");
      weyl::compute(*model, {atoms, samples}, nullptr, {results, samples}, "weyl_compute_batch");
    }
  });
}

WEYL_EXPORT weyl_status weyl_compute_cluster(const weyl_model* model, const weyl_atoms* atoms,
                                             const uint8_t* owned, const weyl_results* results) {
  return guarded([&] {
    require_given(model, "weyl_compute_cluster", "model");
    require_given(atoms, "weyl_compute_cluster", "atoms");
    require_given(owned, "weyl_compute_cluster", "owned");
    require_given(results, "weyl_compute_cluster", "results");
    weyl::compute(*model, {atoms, 1}, owned, {results, 1}, "weyl_compute_cluster");
  });
}

WEYL_EXPORT weyl_status weyl_predict(const weyl_model* model, const weyl_tensor* inputs, size_t count,
                                     int gradient, weyl_tensors** outputs) {
  return guarded([&] {
    require_given(model, "weyl_predict", "model");
    require_given(outputs, "weyl_predict", "outputs");
    *outputs = nullptr;
    weyl::require<weyl::ConfigError>(inputs != nullptr && count > 0, "weyl_predict: inputs must be given");
    *outputs = weyl::predicted(model->predictor, weyl::copied({inputs, count}), gradient != 0).release();
  });
}

WEYL_EXPORT size_t weyl_tensors_count(const weyl_tensors* tensors) {
  return tensors != nullptr ? tensors->tensors.size() : 0;
}

WEYL_EXPORT weyl_tensor weyl_tensors_get(const weyl_tensors* tensors, size_t index) {
  weyl_tensor found{};
  if (tensors != nullptr && index < tensors->tensors.size()) {
    const at::Tensor& t = tensors->tensors[index];
    found.name = tensors->names[index].c_str();
    const auto& types = weyl::element_types;
    found.dtype = static_cast<weyl_dtype>(std::ranges::find(types, weyl::element_type(t.scalar_type())) -
                                          types.begin());
    found.axes = static_cast<size_t>(t.dim());
    found.shape = t.sizes().data();
    found.data = t.const_data_ptr();
  }
  return found;
}

WEYL_EXPORT void weyl_tensors_free(weyl_tensors* tensors) {
  delete tensors;
}
