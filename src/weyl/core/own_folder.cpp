#include "weyl/core/own_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"

namespace weyl {

namespace fs = std::filesystem;

namespace {

const char* name_of(fs::file_type type) {
  switch (type) {
    case fs::file_type::symlink:
      return "a symbolic link";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::regular:
      return "a file";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    default:
      return "a device";
  }
}

}  // namespace

void require_plain(const std::string& path, Plain kind, std::string_view writer) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  require<DataError>(type != fs::file_type::none, path, ": cannot be read: ", error.message());
  const bool plain = type == fs::file_type::not_found ||
                     (kind != Plain::folder && type == fs::file_type::regular) ||
                     (kind != Plain::file && type == fs::file_type::directory);
  require<DataError>(plain, path, ": must not be ", name_of(type), ", since ", writer, " writes into it");
}

void require_plain_files_in(const std::string& folder, std::string_view writer) {
  require_plain(folder, Plain::folder, writer);
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    require_plain(entry->path().string(), Plain::file, writer);
  }
}

int open_plain(const std::string& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0666);
  require<DataError>(descriptor >= 0, path, ": cannot be opened for writing: ", std::strerror(errno));
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    throw DataError(text(path, ": must be a regular file, got a pipe, socket or device"));
  }
  return descriptor;
}

namespace {

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

bool make_new_folder(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !is_folder(parent)) {
    make_new_folder(parent.string());
  }
  if (::mkdir(path.c_str(), 0777) == 0) {
    sync_folder(parent.string());
    return true;
  }
  require<DataError>(errno == EEXIST, path, ": folder cannot be made: ", std::strerror(errno));
  return false;
}

void make_folder(const std::string& path) {
  const bool is = path.empty() || is_folder(path) || make_new_folder(path) || is_folder(path);
  require<DataError>(is, path, ": must be a folder, but something else has its name");
}

void remove_if_unfinished(const std::string& path) {
  std::error_code error;
  if (process_of_unfinished(fs::path(path).filename().string()) &&
      fs::symlink_status(path, error).type() == fs::file_type::regular) {
    fs::remove(path, error);
  }
}

}  // namespace weyl
