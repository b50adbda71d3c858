#include "weyl/core/find_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "weyl/core/check.h"

namespace weyl {

std::string find_program(const std::string& name) {
  require(!name.empty() && name.find('/') == std::string::npos,
          "find_program: name must be that of a file, without a folder, is '", name, "'");
  const char* set = std::getenv("PATH");
  std::string_view rest = set != nullptr ? set : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    if (!folder.starts_with('/')) {
      continue;
    }
    const std::string path = std::string(folder) + "/" + name;
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0) {
      return path;
    }
  }
  return {};
}

}  // namespace weyl
