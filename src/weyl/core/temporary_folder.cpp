#include "weyl/core/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "weyl/core/check.h"

namespace weyl {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder(const std::string& purpose) {
  std::error_code error;
  const fs::path found = fs::temp_directory_path(error);
  const fs::path place = error ? fs::path("/tmp") : fs::absolute(found);
  path_ = (place / ("weyl-" + purpose + "-XXXXXX")).string();
  const bool made = ::mkdtemp(path_.data()) != nullptr;
  require<DataError>(made, place.string(), ": must be writable for a ", purpose,
                     ", but no folder can be made there: ", std::strerror(errno));
}

TemporaryFolder::~TemporaryFolder() {
  try {
    std::error_code error;
    fs::remove_all(path_, error);
  } catch (const std::bad_alloc&) {  // a destructor must not throw: the folder is left
  }
}

}  // namespace weyl
