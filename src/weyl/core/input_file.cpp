#include "weyl/core/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "weyl/core/check.h"
#include "weyl/core/read_file.h"

namespace weyl {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* what, int error) {
  throw_unread(text(path, what, std::generic_category().message(error)), error);
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) {
    refuse(path, ": cannot open: ", errno);
  }
  struct stat status{};
  const int error = ::fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor_);
    if (error != 0) {
      refuse(path, ": cannot read: ", error);
    }
    require<DataError>(!S_ISDIR(status.st_mode), path, ": must be a file, got a directory");
    throw DataError(text(path, ": must be a regular file, got a pipe, socket or device"));
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

size_t InputFile::read(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t size =
        ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      refuse(path_, ": cannot read: ", errno);
    }
    if (size == 0) {
      break;
    }
    done += static_cast<size_t>(size);
  }
  return done;
}

}  // namespace weyl
