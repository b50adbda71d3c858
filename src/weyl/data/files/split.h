#pragma once

#include <string>

#include "weyl/data/parts.h"

namespace weyl {

/// Writes the parts of one data file, weyl.nbody or carrier tensors, as
/// `<folder>/{train,valid,test}.safetensors`; empty parts are not written. Metadata is kept, with the seed
/// and the source's name added. Frames of atoms, whatever their format, become
/// `<folder>/{train,valid,test}.extxyz`, one in memory at a time (convert_frames.h). Files that are there
/// already are never replaced (ConfigError); when one cannot be written (DataError) none of the new ones is
/// left.
SplitIndices split_file(const std::string& path, const std::string& folder, const SplitOptions& options);

}  // namespace weyl
