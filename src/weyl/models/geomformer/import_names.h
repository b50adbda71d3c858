#pragma once

#include "weyl/models/geomformer/options.h"
#include "weyl/models/model.h"

namespace weyl::geomformer {

/// The settings of a TorchMD-Net checkpoint against the options of a model of preset et: heads, layers, cut-offs and
/// whatever else gives other numbers from the same weights. What a file does not say is not looked at, but for
/// vector_cutoff, which TorchMD-Net takes for false then. DataError: key, the file's value, the config's key and value.
void require_torchmd_settings(const Options& options, const Interface& interface, const Settings& settings);

/// SchNetPack's stored cut-off against that of a model of preset painn. DataError as above.
void require_schnetpack_cutoff(const Options& options, double cutoff);

/// Which types of a table of embeddings, (types, channels), the weights were trained on, where that can be known:
/// not those whose row is all zeros (SchNetPack's row of no element), or that the optimiser has never moved, and, of
/// elements where the file has TorchMD-Net's settings, not the first, since rows are atomic numbers. Empty: all may have
/// been.
std::vector<bool> trained_types(const Tensor& embedding, const Interface& interface,
                                const ForeignRecord& record);

/// A state dict of TorchMD-Net (preset et) or SchNetPack (preset painn) in the names and layouts of
/// Geomformer; others are returned as they are. Their output is the interface's first. What the file says beside its
/// weights (import_names.h) must be what the options say.
///   et     values and their filters come head by head, (H, 3, h), and leave part by part, (3, H, h); `std`
///          scales the last layer, `mean` is the shift
///   painn  filters of all layers in one matrix are cut; of (scalar, direction, vector) the last two change
/// DataError: tensors of unexpected shapes, a setting that contradicts the options.
ForeignWeights translated_names(const Options& options, const Interface& interface,
                                const NamedTensors& tensors, const ForeignRecord& record = {});

}  // namespace weyl::geomformer
