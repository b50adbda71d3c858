#pragma once

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Sequences with one pose missing: poses of the group in any order within a sequence, no features; labels
/// `element` (B, m, m), the missing pose, and `flank` (N, 1) int64, 1 on the two tokens next to it and 0
/// elsewhere.
Schema pose_sequences_schema(const PoseSequencesDataOptions& options);

/// A folder of train, valid and test carrier tensor files, or one trajectory (pose_files.h). DataError: no such folder, no split, a broken
/// file, another group than the options name, a file without the labels, fewer samples than asked for.
Splits open_pose_sequences(const PoseSequencesDataOptions& options);

}  // namespace weyl
