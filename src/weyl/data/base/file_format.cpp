#include "weyl/data/base/file_format.h"

#include <filesystem>

#include "weyl/carriers/dataset.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

/// The files of the splits that a folder has, by the names of the splits.
std::vector<std::pair<std::string, std::string>> split_tensor_files(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* split : {"train", "valid", "test"}) {
    const std::string file = (fs::path(folder) / (std::string(split) + ".safetensors")).string();
    if (fs::exists(file)) {
      found.emplace_back(split, file);
    }
  }
  return found;
}

}  // namespace

NamedSets named_sets(const Splits& splits) {
  NamedSets found;
  for (const auto& [name, set] :
       {std::pair{"train", splits.train}, {"valid", splits.valid}, {"test", splits.test}}) {
    if (set) {
      found.emplace_back(name, set);
    }
  }
  return found;
}

NamedSets tensor_file_sets(
    const std::string& folder,
    const std::function<std::shared_ptr<const Dataset>(const std::string& file)>& open) {
  NamedSets found;
  for (const auto& [split, file] : split_tensor_files(folder)) {
    found.emplace_back(split, open(file));
  }
  return found;
}

std::string tensor_file_format(const std::string& path) {
  if (!path.ends_with(".safetensors") || fs::is_directory(path)) {
    return {};
  }
  const SafetensorsFile file(path);
  const auto format = file.header().metadata.find("format");
  return format != file.header().metadata.end() ? format->second : "";
}

std::string tensor_folder_format(const std::string& folder) {
  const auto files = split_tensor_files(folder);
  return files.empty() ? "" : tensor_file_format(files.front().second);
}

bool is_tensor_folder(const std::string& folder) {
  return !split_tensor_files(folder).empty();
}

bool has_entry(const std::string& folder, const std::function<bool(const std::string& name)>& such) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    if (such(entry.path().filename().string())) {
      return true;
    }
  }
  return false;
}

void require_new(const std::string& path) {
  require<ConfigError>(!fs::exists(path), path, ": exists already; remove it or choose another name");
}

}  // namespace weyl
