#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/data/volumes/options.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// Volumes without masks: one file, or those of a folder in the order of their names. Files whose
/// names end in _0000 and on are the channels of one case where there are `modalities` of each, or as many as a
/// dataset.json says. `modalities` 0: as many as that, or as the first file has. Channels have names where a dataset.json
/// beside them or in the folder above lists them; classes have its numbers where `labels` says none. Nothing is kept in
/// `prepared`.
std::shared_ptr<const Dataset> open_volume_files(const std::string& path,
                                                 const DecathlonDataOptions& options);

/// The first key by which the options read the same volumes to other values, "spacing"; empty: there is none, and one
/// reading serves models of both.
std::string differently_read(const DecathlonDataOptions& one, const DecathlonDataOptions& other);

/// All cases of a set as one, for predictions: labelled ones and others. Without masks unless each case has one.
std::shared_ptr<const Dataset> open_whole(const DecathlonDataOptions& options);

/// open_set without the cases whose headers or values are refused, which are all read for that, each with a line in `faults`. DataError: nothing is left, or it is
/// not a case that is wrong.
Splits open_sound_cases(const DecathlonDataOptions& options, std::vector<std::string>& faults);

/// Whether a folder has volumes, and is no set of them (is_volume_set).
bool is_volume_folder(const std::string& path);

}  // namespace weyl
