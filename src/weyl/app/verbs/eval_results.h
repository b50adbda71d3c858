#pragma once

#include <string>

#include "weyl/app/cli/command_line.h"

namespace weyl {

/// Whether a path has results of whatever program in place of a model that would give them: a trajectory of text, or masks
/// (data/volumes/mask_pairs.h).
bool is_result(const std::string& path);

/// Measures results against the truth that --data names, and returns the exit code: trajectories as
/// data/poses/trajectory_errors.h says, masks by the metrics of tasks/segmentation.h, on the grids of their own files.
/// ConfigError: no --data, or options that are of models.
int measure_result(const EvalCommand& command);

}  // namespace weyl
