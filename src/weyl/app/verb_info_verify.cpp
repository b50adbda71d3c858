#include <algorithm>
#include <filesystem>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"
#include "weyl/train/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// Adds the .safetensors files in a folder and its folders. DataError: one of them cannot be read.
void add_files(std::vector<std::string>& files, const std::string& folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors" && entry->is_regular_file(error)) {
      files.push_back(entry->path().string());
    }
  }
  require<DataError>(!error, folder, ": must be readable to be verified: ", error.message());
}

/// Says which folders of a run are passed over: what was damaged and set aside is known to differ.
void say_what_is_set_aside(const std::string& run) {
  std::vector<std::string> aside;
  std::error_code error;
  for (fs::directory_iterator entry(run, error), end; entry != end; entry.increment(error)) {
    if (entry->path().filename().string().find(".damaged") != std::string::npos &&
        entry->is_directory(error)) {
      aside.push_back(entry->path().string());
    }
  }
  std::ranges::sort(aside);
  std::string names;
  for (const std::string& path : aside) {
    names += (names.empty() ? "" : ", ") + path;
  }
  if (!names.empty()) {
    say(names + ": not verified, was set aside as damaged");
  }
}

/// The file, or the .safetensors files in a folder and its folders: of a run those of best/, last/ and previous/.
std::vector<std::string> files_to_verify(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  if (is_run_folder(path)) {
    for (const char* name : {"best", "last", "previous"}) {
      if (const fs::path folder = fs::path(path) / name; fs::is_directory(folder, error)) {
        add_files(files, folder.string());
      }
    }
    say_what_is_set_aside(path);
  } else {
    add_files(files, path);
  }
  require<DataError>(!files.empty(), path, ": must hold .safetensors files to be verified, holds none");
  std::ranges::sort(files);
  return files;
}

}  // namespace

int verify(const InfoCommand& command) {
  const std::string& path = command.subject.path;
  require<ConfigError>(command.subject.overrides.empty() && !path.ends_with(".toml"),
                       "weyl info --verify: takes a file or a run without overrides, got ", path,
                       command.subject.overrides.empty() ? "" : " and overrides");
  std::string out;
  Json without = Json::array();
  int64_t files = 0, tensors = 0, bytes = 0;
  for (const std::string& name : files_to_verify(path)) {
    const SafetensorsFile file(name);
    file.verify();
    if (!file.header().has_checksums) {
      without.add(name);
      out += name + "  has no checksums: nothing to compare\n";
      continue;
    }
    const auto count = static_cast<int64_t>(file.header().tensors.size());
    const auto size = static_cast<int64_t>(fs::file_size(name));
    out += text(name, "  as it was written: ", count, " tensors, ", size, " bytes\n");
    ++files;
    tensors += count;
    bytes += size;
  }
  if (command.talk.json) {
    Json verified = Json::object();
    verified.set("files", files)
        .set("tensors", tensors)
        .set("bytes", bytes)
        .set("without_checksums", without);
    out = Json::object().set("verified", verified).dump() + "\n";
  }
  std::cout << out;
  return exit_done;
}

}  // namespace weyl
