#pragma once

#include "weyl/models/foreign_record.h"
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

}  // namespace weyl::geomformer
