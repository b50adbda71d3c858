#include "weyl/core/overwrite.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "weyl/core/check.h"

namespace weyl {

namespace fs = std::filesystem;

Overwrite::Overwrite(bool forced, const std::vector<std::string>& inputs) : forced_(forced) {
  for (const std::string& input : inputs) {
    add_input(input);
  }
}

void Overwrite::add_input(const std::string& path) {
  struct stat found{};
  // A folder that was met before ends loops of links.
  if (!forced_ || ::stat(path.c_str(), &found) != 0 || !inputs_.insert({found.st_dev, found.st_ino}).second ||
      !S_ISDIR(found.st_mode)) {
    return;
  }
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    add_input(entry->path().string());
  }
}

Existing Overwrite::at(const std::string& path) const {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) {
    return forced_ ? Existing::replace : Existing::keep;
  }
  require<ConfigError>(forced_, path, ": exists already; give another name, or --force to replace it");
  struct stat found{};
  const bool input = ::stat(path.c_str(), &found) == 0 && inputs_.contains({found.st_dev, found.st_ino});
  require<ConfigError>(
      !input, path,
      ": is read by the same call and is never replaced, not even with --force; give another name");
  return Existing::replace;
}

}  // namespace weyl
