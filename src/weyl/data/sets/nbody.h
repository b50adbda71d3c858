#pragma once

#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Charged particles as points: positions (N, 3), scalars charge and (option) speed = |v|, vector velocity,
/// all at input_frame, float64; label displacement (N, 1, 3) = x(target_frame) - x(input_frame); horizon the
/// time between the two.
Schema nbody_schema(const NbodyDataOptions& options);

/// A folder of weyl.nbody files or of the original .npy files (loc_, vel_, charges_ then train, valid, test).
/// DataError: no such folder, no split at all, a broken file, a frame that is not there, fewer samples than
/// the options ask for.
Splits open_nbody(const NbodyDataOptions& options);

/// One weyl.nbody file, all its samples. When the target frame is beyond the file and `labels` is false, the
/// schema has no label.
std::shared_ptr<const Dataset> open_nbody_file(const std::string& path, const NbodyDataOptions& options,
                                               bool labels);

/// Writes the splits of a folder of original .npy files as weyl.nbody files into another folder; returns
/// their paths. Files that are there already are never replaced (ConfigError). DataError: no such files, or
/// broken ones, or one cannot be written; then none of the new ones is left.
std::vector<std::string> convert_nbody(const std::string& originals, const std::string& folder);

/// What the metadata `format` of such a file says.
constexpr const char* nbody_format = "weyl.nbody";

}  // namespace weyl
