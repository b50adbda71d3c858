#include "weyl/train/import.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <set>

#include "weyl/core/check.h"
#include "weyl/core/elements.h"
#include "weyl/data/containers/weights.h"

namespace weyl {

NamedTensors read_state_dict(const std::string& path) {
  NamedTensors tensors;
  for (const NamedArray& named : read_weights(path)) {
    tensors[named.name] =
        copy_tensor(named.array.type, named.array.shape, named.array.bytes, path + ": " + named.name);
  }
  return tensors;
}

ForeignRecord read_foreign_record(const std::string& path, const NamedTensors& weights) {
  ForeignRecord record{read_hyper_parameters(path), {}};
  for (const char* key : {"load_model", "pretrained_model"}) {
    const auto found = record.settings.find(key);
    if (found != record.settings.end() && found->second.kind != Setting::Kind::none) {
      return record;  // its optimiser has not seen what came before
    }
  }
  std::vector<int64_t> shape;
  for (const auto& [name, tensor] : weights) {
    if (name.ends_with("embedding.weight") && tensor.dim() == 2) {
      if (!shape.empty() && tensor.sizes() != at::IntArrayRef(shape)) {
        return record;
      }
      shape = tensor.sizes().vec();
    }
  }
  for (const auto& [name, tensor] : weights) {
    if (!name.ends_with("embedding.weight") && tensor.sizes() == at::IntArrayRef(shape)) {
      return record;
    }
  }
  if (!shape.empty()) {
    record.trained_rows = read_trained_rows(path, shape[0], shape[1]);
  }
  return record;
}

TensorShapes shapes_of(const NamedTensors& state_dict) {
  TensorShapes shapes;
  for (const auto& [name, tensor] : state_dict) {
    shapes[unwrapped_name(name)] = tensor.sizes().vec();
  }
  return shapes;
}

void assign_parameters(Module& module, const NamedTensors& tensors, const std::string& where) {
  const auto parameters = module.parameters();
  std::set<std::string> known;
  for (const auto& p : parameters) {
    known.insert(p.name);
    const auto found = tensors.find(p.name);
    require<DataError>(found != tensors.end(), where, ": tensor '", p.name, "' is missing");
    const Tensor& tensor = found->second;
    require<DataError>(tensor.sizes() == p.tensor.sizes(), where, ": tensor '", p.name, "' must have shape ",
                       p.tensor.sizes(), ", got ", tensor.sizes());
    require<DataError>(tensor.is_floating_point(), where, ": tensor '", p.name,
                       "' must be of floating point, got ", tensor.scalar_type());
    require<DataError>(at::isfinite(tensor).all().item<bool>(), where, ": tensor '", p.name,
                       "' must be finite, and holds infinities or NaN");
  }
  for (const auto& [name, tensor] : tensors) {
    require<DataError>(known.contains(name), where, ": tensor '", name,
                       "' is unexpected: the model has none of that name");
  }
  const at::NoGradGuard quiet;
  for (const auto& p : parameters) {
    p.tensor.copy_(tensors.at(p.name));
  }
  module.train(module.training());  // drops what was computed from the old values
}

namespace {

/// A table of types that a file says is by atomic number must be of the elements that the model names so. The first row is
/// of no element, whatever ours is called.
void require_atomic_numbers(const Interface& interface, const Settings& settings) {
  const auto max_z = settings.find("max_z");
  for (size_t z = 1; max_z != settings.end() && z < interface.elements.size(); ++z) {
    const std::string& symbol = interface.elements[z];
    require<DataError>(atomic_number(symbol) == static_cast<int>(z), "hyper_parameters: 'max_z' is ",
                       text_of(max_z->second), ", so that rows of the embedding are atomic numbers, type ", z,
                       " of the config's elements is ", symbol);
  }
}

}  // namespace

Imported import_weights(Model& model, const NamedTensors& state_dict, const std::string& where,
                        const ForeignRecord& record) {
  NamedTensors named;
  for (const auto& [name, tensor] : state_dict) {
    const bool fresh = named.emplace(unwrapped_name(name), tensor).second;
    require<DataError>(fresh, where, ": tensor '", name,
                       "' has the same name as another, once prefixes are dropped");
  }
  ForeignWeights weights;
  try {
    weights = model.translated(named, record);
    require_atomic_numbers(model.interface, record.settings);
  } catch (const DataError& error) {
    throw DataError(where + ": " + error.what());
  }
  assign_parameters(model, weights.tensors, where);
  return {weights.shift, std::move(weights.trained)};
}

}  // namespace weyl
