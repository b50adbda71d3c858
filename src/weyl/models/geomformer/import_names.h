#pragma once

#include "weyl/models/geomformer/options.h"
#include "weyl/models/model.h"

namespace weyl::geomformer {

/// A state dict of TorchMD-Net (preset et) or SchNetPack (preset painn) in the names and layouts of
/// Geomformer; others are returned as they are. `output` names the quantity that their output is.
///   et     values and their filters come head by head, (H, 3, h), and leave part by part, (3, H, h); `std`
///          scales the last layer, `mean` is the shift
///   painn  filters of all layers in one matrix are cut; of (scalar, direction, vector) the last two change
/// DataError: tensors of unexpected shapes.
ForeignWeights translated_names(const Options& options, const std::string& output,
                                const NamedTensors& tensors);

}  // namespace weyl::geomformer
