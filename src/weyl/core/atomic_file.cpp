#include "weyl/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "weyl/core/check.h"
#include "weyl/core/sync_folder.h"
#include "weyl/core/unfinished_file.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// The file that a rename must replace: `path`, or what a symbolic link there points to.
std::string target_of(const std::string& path) {
  std::error_code error;
  if (fs::is_symlink(path, error)) {
    const auto target = fs::canonical(path, error);
    require<DataError>(!error, path, ": cannot follow the link: ", error.message());
    return target.string();
  }
  return path;
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(target_of(path)) {
  std::error_code error;
  const auto status = fs::status(target_, error);
  require<DataError>(!fs::exists(status) || fs::is_regular_file(status), path,
                     ": must be a regular file or absent to be written, got ",
                     fs::is_directory(status) ? "a directory" : "a pipe, socket or device");
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = unfinished_name(target_, counter++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  require<DataError>(descriptor_ >= 0, path_, ": cannot write: ", reason(errno));
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    require<DataError>(written >= 0, path_, ": cannot write: ", reason(errno));
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void AtomicFile::write(std::string_view contents) {
  write(std::as_bytes(std::span(contents)));
}

void AtomicFile::commit() {
  require<DataError>(::fsync(descriptor_) == 0, path_, ": cannot write: ", reason(errno));
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  require<DataError>(closed == 0, path_, ": cannot write: ", reason(errno));
  require<DataError>(::rename(temporary_.c_str(), target_.c_str()) == 0, path_,
                     ": cannot write: ", reason(errno));
  temporary_.clear();
  require<DataError>(sync_folder(fs::path(target_).parent_path().string()), path_,
                     ": cannot sync its folder: ", reason(EIO));
}

void write_file_atomically(const std::string& path, std::string_view contents) {
  AtomicFile file(path);
  file.write(contents);
  file.commit();
}

}  // namespace weyl
