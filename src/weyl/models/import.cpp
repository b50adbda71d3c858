#include "weyl/models/import.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/isfinite.h>

#include <set>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/data/formats/weights.h"
#include "weyl/models/geomformer/import_names.h"

namespace weyl {
namespace {

/// Buffers of the authors' Platonic modules that hold the group itself.
bool is_group_table(std::string_view name) {
  const auto last = name.substr(name.rfind('.') + 1);
  return last == "cayley_table" || last == "inverse_indices" || last == "group_elements";
}

/// True for a tensor of a readout that the model lacks and that gives no output: its last kernel has no rows.
bool is_dead_readout(const std::string& name, const NamedTensors& tensors,
                     const std::set<std::string>& known) {
  for (const std::string head : {"scalar_readout.", "vector_readout."}) {
    const auto first_known = known.lower_bound(head);
    const bool built = first_known != known.end() && first_known->starts_with(head);
    if (!name.starts_with(head) || built) {
      continue;
    }
    for (const char* last : {"2.kernel", "kernel"}) {
      const auto kernel = tensors.find(head + last);
      if (kernel != tensors.end()) {
        return kernel->second.dim() == 3 && kernel->second.size(1) == 0;
      }
    }
  }
  return false;
}

ForeignWeights translated(const TransformerOptions&, const NamedTensors& tensors, const Model&) {
  return {tensors};
}

ForeignWeights translated(const LieOptions&, const NamedTensors& tensors, const Model&) {
  return {tensors};  // the authors have published no code: the names are ours
}

ForeignWeights translated(const SteerableOptions&, const NamedTensors& tensors, const Model&) {
  return {tensors};  // our names: the authors' weights stand for another basis of filters
}

ForeignWeights translated(const GeomformerOptions& options, const NamedTensors& tensors, const Model& model) {
  const auto& outputs = model.interface.outputs;
  return geomformer_names(options, outputs.empty() ? "" : outputs[0].name, tensors);
}

ForeignWeights translated(const PlatonicOptions&, const NamedTensors& tensors, const Model& model) {
  std::set<std::string> known;
  for (const auto& p : model.parameters()) {
    known.insert(p.name);
  }
  NamedTensors result;
  for (const auto& [name, tensor] : tensors) {
    if (!is_group_table(name) && !is_dead_readout(name, tensors, known)) {
      result.emplace(name, tensor);
    }
  }
  return {result};
}

}  // namespace

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

double import_weights(Model& model, const ModelOptions& options, const NamedTensors& state_dict,
                      const std::string& where) {
  NamedTensors named;
  for (const auto& [name, tensor] : state_dict) {
    const bool fresh = named.emplace(unwrapped_name(name), tensor).second;
    require<DataError>(fresh, where, ": tensor '", name,
                       "' has the same name as another, once prefixes are dropped");
  }
  const ForeignWeights weights =
      std::visit([&](const auto& o) { return translated(o, named, model); }, options.system);
  assign_parameters(model, weights.tensors, where);
  return weights.shift;
}

}  // namespace weyl
