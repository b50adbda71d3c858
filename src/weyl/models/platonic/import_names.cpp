#include "weyl/models/platonic/import_names.h"

#include <set>
#include <string_view>

namespace weyl::platonic {
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

}  // namespace

NamedTensors translated_names(const NamedTensors& state_dict, const Module& model) {
  std::set<std::string> known;
  for (const auto& p : model.parameters()) {
    known.insert(p.name);
  }
  NamedTensors result;
  for (const auto& [name, tensor] : state_dict) {
    if (!is_group_table(name) && !is_dead_readout(name, state_dict, known)) {
      result.emplace(name, tensor);
    }
  }
  return result;
}

}  // namespace weyl::platonic
