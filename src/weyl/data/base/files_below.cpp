#include "weyl/data/base/files_below.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace weyl {
namespace {

constexpr int kDeepest = 4;
constexpr size_t kMostFiles = 1'000'000;

}  // namespace

std::vector<std::string> files_below(const std::string& folder,
                                     const std::function<bool(const std::string& path)>& wanted) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, error), end; !error && at != end;
       at.increment(error)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    std::error_code none;
    if (at->is_directory(none) && (hidden || at.depth() + 1 >= kDeepest)) {
      at.disable_recursion_pending();
    } else if (!hidden && at->is_regular_file(none) && files.size() < kMostFiles &&
               wanted(at->path().string())) {
      files.push_back(at->path().string());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::string stem_of(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string inner = name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name;
  return std::filesystem::path(inner).stem().string();
}

}  // namespace weyl
