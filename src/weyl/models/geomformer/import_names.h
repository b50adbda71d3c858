#pragma once

#include "weyl/models/geomformer/options.h"
#include "weyl/models/model.h"

namespace weyl::geomformer {

/// A state dict of TorchMD-Net (preset et) or SchNetPack (preset painn) in the names and layouts of
/// Geomformer; others are returned as they are. Their output is the interface's first. What the file says beside its
/// weights (foreign_settings.h) must be what the options say.
///   et     values and their filters come head by head, (H, 3, h), and leave part by part, (3, H, h); `std`
///          scales the last layer, `mean` is the shift
///   painn  filters of all layers in one matrix are cut; of (scalar, direction, vector) the last two change
/// DataError: tensors of unexpected shapes, a setting that contradicts the options.
ForeignWeights translated_names(const Options& options, const Interface& interface,
                                const NamedTensors& tensors, const ForeignRecord& record = {});

}  // namespace weyl::geomformer
