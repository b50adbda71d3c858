#include "weyl/train/run/run_data.h"

#include <filesystem>

#include "weyl/core/check.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

// RUN of RUN/best/model.safetensors and of RUN/best; empty when the file is in no run.
std::string run_around(const std::string& path) {
  if (is_run_folder(path)) {
    return path;
  }
  for (const fs::path& run : {fs::path(path) / "..", fs::path(path).parent_path() / ".."}) {
    if (is_run_folder(run.string())) {
      return run.string();
    }
  }
  return "";
}

// Null when the run does not say, or says it in a way that cannot be read: it is an aid, no part of the model.
Json of_environment(const std::string& run, std::string_view key) {
  const std::string file = run + "/environment.json";
  try {
    const Json environment = Json::parse(read_if_there(file), file);
    const Json* value = environment.find(key);
    return value != nullptr ? *value : Json();
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

void record_folder(Json& environment) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (!error) {
    environment.set("folder", here.string());
  }
}

std::string path_of_run(const std::string& path, const std::string& run) {
  const std::string around = run_around(run);
  const fs::path folder = around.empty() ? "" : of_environment(around, "folder").string_or("");
  std::error_code error;
  if (path.empty() || folder.empty() || fs::equivalent(folder, fs::current_path(error), error)) {
    return path;
  }
  const fs::path found = folder / path;  // an absolute path stays itself
  return fs::exists(found, error) ? found.string() : path;
}

Json fingerprint_of_run(const std::string& run) {
  const std::string around = run_around(run);
  return around.empty() ? Json() : of_environment(around, "data");
}

DataOptions data_of_run(DataOptions options, const std::string& run) {
  if (auto* qm9 = std::get_if<Qm9DataOptions>(&options.set)) {
    qm9->exclude = path_of_run(qm9->exclude, run);
  }
  const std::string path = path_of_run(path_of(options), run);
  return moved_to(std::move(options), path);
}

TaskOptions task_of_run(TaskOptions options, const std::string& run) {
  if (auto* force_field = std::get_if<ForceFieldOptions>(&options.task)) {
    force_field->references = path_of_run(force_field->references, run);
  }
  return options;
}

}  // namespace weyl
