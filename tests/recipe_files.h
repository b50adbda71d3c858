// The recipes of configs/, for tests that hold for each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weyl {

/// Every `.toml` below configs/ but the studies of configs/scaling, which name recipes and are none.
inline std::vector<std::string> recipe_files() {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(WEYL_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() == ".toml" && entry.path().parent_path().filename() != "scaling") {
      files.push_back(entry.path().string());
    }
  }
  return files;
}

}  // namespace weyl
