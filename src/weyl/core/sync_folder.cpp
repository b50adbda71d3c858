#include "weyl/core/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace weyl {

bool sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    return true;
  }
  const bool done = ::fsync(descriptor) == 0 || errno != EIO;
  ::close(descriptor);
  return done;
}

}  // namespace weyl
