#include "weyl/engine/loaded_torch.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/csrc/api/include/torch/version.h>

#include <filesystem>
#include <fstream>

#include "weyl/core/check.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

std::string first_version_in(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    const size_t begin = line.find_first_of("0123456789");
    const bool named = line.starts_with("__version__") || file.filename() == "build-version";
    if (named && begin != std::string::npos) {
      return line.substr(begin, line.find_first_not_of("0123456789.", begin) - begin);
    }
  }
  return "";
}

fs::path folder_of_torch() {
  Dl_info info{};
  const bool found =
      dladdr(reinterpret_cast<const void*>(&at::get_num_threads), &info) != 0 && info.dli_fname != nullptr;
  std::error_code error;
  const fs::path file = found ? fs::canonical(info.dli_fname, error) : fs::path();
  return file.parent_path();  // .../torch/lib, or .../libtorch/lib
}

}  // namespace

std::string built_with_torch() {
  return text(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH);
}

std::string loaded_torch() {
  const fs::path above = folder_of_torch().parent_path();
  const std::string of_wheel = first_version_in(above / "version.py");
  return of_wheel.empty() ? first_version_in(above / "build-version") : of_wheel;
}

void require_own_torch() {
  const std::string loaded = loaded_torch();
  require<ConfigError>(loaded.empty() || loaded == built_with_torch(), "weyl_load: LibTorch must be ",
                       built_with_torch(), ", with which the library was built, but the process has ", loaded,
                       " (", folder_of_torch().string(), ")");
}

}  // namespace weyl
