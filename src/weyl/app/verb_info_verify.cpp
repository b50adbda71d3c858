#include <algorithm>
#include <filesystem>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// The file, or the .safetensors files in a folder and its folders: of a run those of best/, last/ and previous/.
std::vector<std::string> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return {path};
  }
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator entry(path, error), end; entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".safetensors" && entry->is_regular_file(error)) {
      files.push_back(entry->path().string());
    }
  }
  require<DataError>(!error, path, ": must be readable to be verified: ", error.message());
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
  for (const std::string& name : files_of(path)) {
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
