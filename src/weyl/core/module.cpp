#include "weyl/core/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {

std::filesystem::path library_folder() {
  Dl_info own{};
  static const int here = 0;
  dladdr(&here, &own);
  const std::filesystem::path file = own.dli_fname == nullptr ? "" : own.dli_fname;
  require<ConfigError>(file.is_absolute(),
                       "LD_LIBRARY_PATH: weyl's own library must be found by an absolute path, was by ",
                       quote(file.string()));
  return file.parent_path();
}

void require_absolute_library_path() {
  const char* set = std::getenv("LD_LIBRARY_PATH");
  const std::string_view all = set != nullptr ? set : "";
  bool absolute = true;
  for (size_t begin = 0, end = 0; !all.empty() && end < all.size(); begin = end + 1) {
    end = std::min(all.find_first_of(":;", begin), all.size());
    absolute = absolute && all.substr(begin, end - begin).starts_with('/');
  }
  require<ConfigError>(
      absolute,
      "LD_LIBRARY_PATH: its entries must be absolute folders, empty ones are the current folder, is ",
      quote(all));
}

OpenedModule::OpenedModule(const std::string& file) {
  open(file);
}

OpenedModule::OpenedModule(const std::string& file, const std::string& absence) {
  if (file.empty()) {
    fault_ = absence;
    return;
  }
  try {
    require_absolute_library_path();
  } catch (const ConfigError& error) {
    fault_ = text("which cannot be opened: ", error.what());
    return;
  }
  open(file);
}

void OpenedModule::open(const std::string& file) {
  std::string said;
  try {
    handle_ = dlopen((library_folder() / file).c_str(), RTLD_NOW | RTLD_LOCAL);
    said = handle_ == nullptr ? dlerror() : "";
  } catch (const ConfigError& error) {
    said = error.what();
  }
  if (handle_ == nullptr) {
    fault_ = text("which cannot be opened: ", said);
  }
}

void* OpenedModule::address_of(const char* name) {
  if (handle_ == nullptr) {
    return nullptr;
  }
  void* address = dlsym(handle_, name);
  if (address == nullptr) {
    fault_ = text("the module has no ", name);
  }
  return address;
}

}  // namespace weyl
