#include "weyl/core/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "weyl/core/check.h"

namespace weyl {
namespace {

FileContents unread(const char* what, int error) {
  return {"", what + std::generic_category().message(error), error};
}

FileContents contents_of_open_file(int descriptor, size_t most) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    return unread("cannot be read: ", errno);
  }
  if (S_ISDIR(status.st_mode)) {
    return {"", "cannot be read: Is a directory"};
  }
  if (!S_ISREG(status.st_mode)) {
    return {"", "must be a regular file, got a pipe, socket or device"};
  }
  FileContents found;
  std::array<char, 1U << 16U> buffer;
  while (true) {
    const ssize_t size = ::read(descriptor, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size < 0) {
      return unread("cannot be read: ", errno);
    }
    if (size == 0) {
      return found;
    }
    found.text.append(buffer.data(), static_cast<size_t>(size));
    if (found.text.size() > most) {
      return {"", text("must have at most ", most, " bytes")};
    }
  }
}

}  // namespace

FileContents read_file(const std::string& path, size_t most) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    return unread("cannot be opened: ", errno);
  }
  FileContents found = contents_of_open_file(descriptor, most);
  ::close(descriptor);
  return found;
}

std::string contents_of(const std::string& path) {
  FileContents found = read_file(path, std::numeric_limits<size_t>::max());
  if (found.error != 0) {
    throw_unread(text(path, ": ", found.fault), found.error);
  }
  require<DataError>(found.fault.empty(), path, ": ", found.fault);
  return std::move(found.text);
}

void throw_unread(const std::string& message, int error) {
  require<UnreadableError>(error == ENOENT || error == ENOTDIR, message);
  throw DataError(message);
}

}  // namespace weyl
