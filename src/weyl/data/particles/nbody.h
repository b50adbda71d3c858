#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/particles/options.h"

namespace weyl {

/// One weyl.nbody file, all its samples. When the target frame is beyond the file and `labels` is false, the
/// schema has no label.
std::shared_ptr<const Dataset> open_nbody_file(const std::string& path, const NbodyDataOptions& options,
                                               bool labels);

/// Writes the splits of a folder of original .npy files as weyl.nbody files into another folder; returns
/// their paths. Files that are there already are never replaced (ConfigError). DataError: no such files, or
/// broken ones, or one cannot be written; then none of the new ones is left.
std::vector<std::string> convert_nbody(const std::string& originals, const std::string& folder);

}  // namespace weyl
