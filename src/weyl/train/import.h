#pragma once

#include <string>
#include <vector>

#include "weyl/core/tensor_file.h"
#include "weyl/models/model.h"
#include "weyl/models/system_options.h"

namespace weyl {

/// The tensors of a weights file (data/containers/weights.h: safetensors or a PyTorch zip checkpoint, read
/// without executing anything), by name, in the dtypes of the file. DataError: a broken file, or one of
/// another format.
NamedTensors read_state_dict(const std::string& path);

/// What such a file says beside its weights: hyper_parameters, and which rows of its tables of types (`...embedding.weight`,
/// of one shape that nothing else has) the optimiser has moved, unless it began with the weights of another training.
/// Nothing for a safetensors file. `weights`: those that read_state_dict gave.
ForeignRecord read_foreign_record(const std::string& path, const NamedTensors& weights);

/// The shapes of a state dict by the names that systems know, without what wrappers put around them.
TensorShapes shapes_of(const NamedTensors& state_dict);

/// Copies tensors into a module's parameters by name, converting between floating-point dtypes. Everything is
/// checked before anything is copied: DataError names the first tensor that is missing, unexpected,
/// misshaped, not of floating point or not finite. `where` names the file.
void assign_parameters(Module& module, const NamedTensors& tensors, const std::string& where);

/// What weights from elsewhere bring that ours have no place for.
struct Imported {
  double shift = 0;           // added to the output, once for a graph: often too large for the output's dtype
  std::vector<bool> trained;  // which types of nodes they were trained on; empty: not known, maybe all
};

/// Loads a state dict of the authors of a system into a model of that system. What wrappers put around names
/// is dropped (`unwrapped_name`), the rest is the system's to translate (`Model::translated`). DataError as above, and
/// where `record` contradicts the model.
Imported import_weights(Model& model, const NamedTensors& state_dict, const std::string& where,
                        const ForeignRecord& record = {});

}  // namespace weyl
