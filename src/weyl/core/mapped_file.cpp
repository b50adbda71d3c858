#include "weyl/core/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string reason(int error) {
  return std::generic_category().message(error);
}

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) {
      ::close(number);
    }
  }
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  require<DataError>(file.number >= 0, path, ": cannot open: ", reason(errno));
  struct stat status{};
  require<DataError>(::fstat(file.number, &status) == 0, path, ": cannot read: ", reason(errno));
  require<DataError>(!S_ISDIR(status.st_mode), path, ": must be a file, got a directory");
  require<DataError>(S_ISREG(status.st_mode), path, ": must be a regular file, got a pipe, socket or device");
  if (status.st_size == 0) {
    return;  // nothing can be mapped
  }
  const auto size = static_cast<size_t>(status.st_size);
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  require<DataError>(begin != MAP_FAILED, path, ": cannot map: ", reason(errno));
  bytes_ = {static_cast<const std::byte*>(begin), size};
}

void MappedFile::release(size_t begin, size_t end) const {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = std::min(end, bytes_.size()) / page * page;
  if (begin < end) {  // advice only: what fails costs memory, no more
    ::madvise(const_cast<std::byte*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
  }
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  }
}

}  // namespace weyl
