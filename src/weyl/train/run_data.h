#pragma once

#include <string>

#include "weyl/core/json.h"
#include "weyl/data/options.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// Adds to what environment.json says the folder that a run is started in (`folder`), because the paths of
/// its config are written relative to it.
void record_folder(Json& environment);

/// The data of a run as its config names them, wherever the program stands now: a relative path is looked for
/// in the folder that the run was started in, then in the current one. `run` is a run folder, or a model file
/// in one (RUN/best/model.safetensors); of any other model file, and of a path that is found nowhere, the
/// options are given back as they are.
DataOptions data_of_run(DataOptions options, const std::string& run);

/// The task of a run likewise: the files that it reads.
TaskOptions task_of_run(TaskOptions options, const std::string& run);

/// A path that the config of a run names, as data_of_run finds one.
std::string path_of_run(const std::string& path, const std::string& run);

}  // namespace weyl
