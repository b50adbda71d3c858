#pragma once

#include <string>

#include "weyl/core/tensor_file.h"
#include "weyl/models/model.h"

namespace weyl {

/// The tensors of a weights file (data/formats/weights.h: safetensors or a PyTorch zip checkpoint, read
/// without executing anything), by name, in the dtypes of the file. DataError: a broken file, or one of
/// another format.
NamedTensors read_state_dict(const std::string& path);

/// Copies tensors into a module's parameters by name, converting between floating-point dtypes. Everything is
/// checked before anything is copied: DataError names the first tensor that is missing, unexpected,
/// misshaped, not of floating point or not finite. `where` names the file.
void assign_parameters(Module& module, const NamedTensors& tensors, const std::string& where);

/// Loads a state dict of the authors of a system into a model of that system. What wrappers put around names
/// is dropped (`unwrapped_name`), the rest is the system's to translate (`Model::translated`). Returns what
/// their model adds to its output, once for a graph, and ours has no weight for: often too large for the
/// output's dtype. DataError as above.
double import_weights(Model& model, const NamedTensors& state_dict, const std::string& where);

}  // namespace weyl
