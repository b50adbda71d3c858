#include "weyl/core/new_files.h"

#include <filesystem>

#include "weyl/core/check.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

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
