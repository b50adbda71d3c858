#pragma once

#include "weyl/core/tensor_file.h"
#include "weyl/nn/module.h"

namespace weyl::platonic {

/// A state dict of the authors' Platonic Transformer without what has no parameter here: buffers that hold the
/// tables of the group, and a readout without outputs that the model does not have (the authors always build
/// two). Names and layouts are the same.
NamedTensors translated_names(const NamedTensors& state_dict, const Module& model);

}  // namespace weyl::platonic
