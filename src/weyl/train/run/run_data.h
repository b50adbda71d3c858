#pragma once

#include <string>

#include "weyl/core/json.h"
#include "weyl/data/options.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// Adds the folder that a run is started in to its environment (`folder` of environment.json), because the paths of its
/// config are relative to it.
void record_folder(Json& environment);

/// The fingerprint of the data that a run learned from (train/run/fingerprint.h), as its environment.json has it. `run` is
/// a run folder, or a model file in one; null where there is none, or it says nothing that can be read.
Json fingerprint_of_run(const std::string& run);

/// The data options of a run with paths that hold wherever the program is now. A relative path is looked for in the
/// folder that the run was started in, then in the current one. `run` is a run folder, or a model file in one
/// (RUN/best/model.safetensors). For any other model file, and for a path that is found nowhere, the options are
/// returned unchanged.
DataOptions data_of_run(DataOptions options, const std::string& run);

/// The same for the files that the task of a run reads.
TaskOptions task_of_run(TaskOptions options, const std::string& run);

/// The same for one path that the config of a run names.
std::string path_of_run(const std::string& path, const std::string& run);

}  // namespace weyl
