#include "weyl/core/output_files.h"

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

namespace {

/// Makes a folder and those above it; the ones that were not there are added to `made`, the upper ones first.
void make_folder(const fs::path& folder, std::vector<fs::path>& made) {
  std::error_code failure;
  if (folder.empty() || fs::is_directory(folder, failure)) {
    return;
  }
  make_folder(folder.parent_path(), made);
  if (fs::create_directory(folder, failure)) {
    made.push_back(folder);
  }
  require<DataError>(fs::is_directory(folder), folder.string(), ": cannot be made: ", failure.message());
}

}  // namespace

void NewFiles::add(const std::string& path) {
  std::error_code failure;
  require<ConfigError>(!fs::exists(fs::symlink_status(path, failure)), path,
                       ": exists already and is not replaced; remove it or choose another folder");
  paths_.push_back(path);
}

void NewFiles::add_split(const std::string& folder, const std::string& split, const std::string& ending) {
  add((fs::path(folder) / (split + ending)).string());
}

bool NewFiles::keep_if(const std::function<bool(const Written& written)>& write) const {
  std::vector<fs::path> made;
  std::vector<char> ours(paths_.size(), 0);  // not of bool: threads write to neighbours
  const auto remove = [&] {
    std::error_code failure;
    for (size_t i = 0; i < paths_.size(); ++i) {
      if (ours[i] != 0) {
        fs::remove(paths_[i], failure);
      }
    }
    for (auto folder = made.rbegin(); folder != made.rend(); ++folder) {
      fs::remove(*folder, failure);  // unless others have put something there
    }
  };
  try {
    for (const auto& path : paths_) {
      make_folder(fs::path(path).parent_path(), made);
    }
    const bool whole = write([&](size_t i) { ours.at(i) = 1; });
    if (!whole) {
      remove();
    }
    return whole;
  } catch (...) {
    remove();
    throw;
  }
}

void NewFiles::write_each(const std::function<void(size_t i)>& write) const {
  keep_if([&](const Written& written) {
    for (size_t i = 0; i < paths_.size(); ++i) {
      write(i);
      written(i);
    }
    return true;
  });
}

}  // namespace weyl
