#include "weyl/data/split_files.h"

#include <filesystem>

#include "weyl/core/check.h"

namespace weyl {

namespace fs = std::filesystem;

SplitFile new_split_file(const std::string& folder, const std::string& split) {
  const std::string path = (fs::path(folder) / (split + ".safetensors")).string();
  require<ConfigError>(!fs::exists(path), path, ": exists already; remove it or choose another folder");
  return {split, path};
}

void write_split_files(const std::string& folder, std::span<const SplitFile> files,
                       const std::function<void(size_t i)>& write) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  require<DataError>(!failure, folder, ": cannot be made: ", failure.message());
  for (size_t i = 0; i < files.size(); ++i) {
    try {
      write(i);
    } catch (...) {
      for (size_t k = 0; k < i; ++k) {
        fs::remove(files[k].path, failure);
      }
      throw;
    }
  }
}

}  // namespace weyl
