#include "weyl/train/run/append_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/own_folder.h"

namespace weyl {

namespace {

// Whether there is no such file; a disk that does not say is no answer.
bool is_absent(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

AppendFile::AppendFile(std::string path, int64_t size) : path_(std::move(path)) {
  new_ = is_absent(path_);
  descriptor_ = open_plain(path_, O_WRONLY | O_CREAT | O_APPEND);
  struct stat status{};
  const bool known = ::fstat(descriptor_, &status) == 0;
  size_ = known ? static_cast<int64_t>(status.st_size) : 0;
  if (known && size >= 0 && size < size_ && ::ftruncate(descriptor_, size) == 0) {
    size_ = size;
  }
  if (!known || (size >= 0 && size != size_)) {
    const std::string found = known ? text(size_, " bytes") : std::string(std::strerror(errno));
    ::close(descriptor_);
    if (new_) {
      ::unlink(path_.c_str());
    }
    throw DataError(text(path_, ": must have at least ", size, " bytes, got ", found));
  }
}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
    if (new_ && size_ == 0) {
      ::unlink(path_.c_str());
    }
  }
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      new_(other.new_) {}

void AppendFile::append(std::string_view record) {
  size_t done = 0;
  while (done < record.size()) {
    const auto n = ::write(descriptor_, record.data() + done, record.size() - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      const std::string reason = std::strerror(n < 0 ? errno : ENOSPC);
      [[maybe_unused]] const int taken_back = ::ftruncate(descriptor_, size_);
      throw DataError(text(path_, ": cannot be written: ", reason));
    }
    done += static_cast<size_t>(n);
  }
  size_ += static_cast<int64_t>(record.size());
}

void AppendFile::sync() {
  const bool synced = ::fsync(descriptor_) == 0;
  require<DataError>(synced, path_, ": cannot be synced: ", std::strerror(errno));
}

std::string set_aside(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::string aside = path + ".damaged";
  for (int number = 2; fs::exists(fs::symlink_status(aside, error)); ++number) {
    aside = text(path, ".damaged-", number);
  }
  const bool renamed = ::rename(path.c_str(), aside.c_str()) == 0;
  require<DataError>(renamed, path, ": cannot be renamed to ", aside, ": ", std::strerror(errno));
  sync_folder(fs::path(path).parent_path().string());
  return aside;
}

std::string read_if_there(const std::string& path) {
  return is_absent(path) ? "" : contents_of(path);
}

Json json_if_there(const std::string& path) {
  const std::string source = read_if_there(path);
  return source.empty() ? Json() : Json::parse(source, path);
}

}  // namespace weyl
