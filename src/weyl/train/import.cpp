#include "weyl/train/import.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <set>

#include "weyl/core/check.h"
#include "weyl/data/formats/weights.h"

namespace weyl {

NamedTensors read_state_dict(const std::string& path) {
  NamedTensors tensors;
  for (const NamedArray& named : read_weights(path)) {
    tensors[named.name] =
        copy_tensor(named.array.type, named.array.shape, named.array.bytes, path + ": " + named.name);
  }
  return tensors;
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

double import_weights(Model& model, const NamedTensors& state_dict, const std::string& where) {
  NamedTensors named;
  for (const auto& [name, tensor] : state_dict) {
    const bool fresh = named.emplace(unwrapped_name(name), tensor).second;
    require<DataError>(fresh, where, ": tensor '", name,
                       "' has the same name as another, once prefixes are dropped");
  }
  const ForeignWeights weights = model.translated(named);
  assign_parameters(model, weights.tensors, where);
  return weights.shift;
}

}  // namespace weyl
