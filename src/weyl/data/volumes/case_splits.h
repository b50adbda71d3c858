#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/data/base/parts.h"
#include "weyl/data/volumes/options.h"
#include "weyl/data/volumes/volume_index.h"

namespace weyl {

/// The split of labelled cases, of which the folder has the first `own` for training and the others for a test. By the
/// fractions or counts of the options, drawn by their seed; then held-out cases are moved into the validation split, or the
/// training and validation cases are those of a fold: by the folder's splits_final.json where it has one, else drawn.
/// Each part ascends. DataError: fewer cases than asked for; a name of no case, or of several. ConfigError: see open_set.
/// `warnings` gets a line for each thing that is odd about splits_final.json: cases for validation twice or never, and
/// options that it leaves without effect.
SplitIndices split_cases(const DecathlonDataOptions& options, const Folds& folds,
                         const std::vector<VolumeCase>& cases, int64_t own,
                         std::vector<std::string>& warnings);

}  // namespace weyl
