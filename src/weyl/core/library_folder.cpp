#include "weyl/core/library_folder.h"

#include <dlfcn.h>

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

}  // namespace weyl
