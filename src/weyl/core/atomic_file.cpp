#include "weyl/core/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <span>
#include <system_error>

#include "weyl/core/check.h"

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

namespace {

constexpr std::string_view ending = ".tmp";

/// A file in the making, at an address that a signal handler can read at any time.
struct Slot {
  std::atomic<bool> taken = false, whole = false;  // somebody's; its path is written to the end
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<bool>::is_always_lock_free);

std::span<Slot> slots() {
  static std::array<Slot, 64> all;
  return all;
}

// The whole number at the end of a name, after `mark`, both of which are taken off it.
std::optional<long> take_number(std::string_view& name, char mark) {
  const size_t at = name.find_last_not_of("0123456789");
  long number = 0;
  const bool marked = at != std::string_view::npos && name[at] == mark;
  if (!marked || std::from_chars(name.data() + at + 1, name.data() + name.size(), number).ec != std::errc()) {
    return {};
  }
  name = name.substr(0, at);
  return number;
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& path) {
  const std::span<Slot> all = slots();
  if (path.size() >= PATH_MAX) {
    slot_ = all.size();
  }
  while (slot_ < all.size() && all[slot_].taken.exchange(true)) {
    ++slot_;
  }
  if (slot_ < all.size()) {
    *std::copy(path.begin(), path.end(), all[slot_].path.begin()) = '\0';
    all[slot_].whole = true;
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (slot_ < slots().size()) {
    slots()[slot_].whole = false;
    slots()[slot_].taken = false;
  }
}

void remove_unfinished_files() noexcept {
  const int before = errno;
  for (const Slot& slot : slots()) {
    if (slot.whole) {
      ::unlink(slot.path.data());
    }
  }
  errno = before;
}

std::string unfinished_name(const std::string& path, unsigned number) {
  return text(path, ".", ::getpid(), "-", number, ending);
}

std::optional<long> process_of_unfinished(std::string_view name) {
  if (!name.ends_with(ending)) {
    return {};
  }
  name.remove_suffix(ending.size());
  if (!take_number(name, '-')) {
    return {};
  }
  const std::optional<long> process = take_number(name, '.');
  return name.empty() ? std::nullopt : process;
}

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

/// Gives a file a name that nothing has yet, in one step: false with errno EEXIST when something has it. A file system
/// that knows neither way of doing so leaves a moment between the look and the rename.
bool rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return false;
  }
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno != EPERM && errno != EOPNOTSUPP) {
    return false;
  }
  std::error_code error;
  if (fs::exists(fs::symlink_status(to, error))) {
    errno = EEXIST;
    return false;
  }
  return ::rename(from.c_str(), to.c_str()) == 0;
}

void require_absent(bool absent, const std::string& path) {
  require<ConfigError>(absent, path, ": exists already and is not replaced; choose another name");
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path, Existing existing)
    : path_(path), existing_(existing), target_(existing == Existing::replace ? target_of(path) : path) {
  std::error_code error;
  const auto there = fs::symlink_status(target_, error);
  require_absent(existing_ != Existing::keep || !fs::exists(there), path_);
  const bool link = existing_ == Existing::replace_link && fs::is_symlink(there);
  const auto status = link ? fs::file_status(fs::file_type::not_found) : fs::status(target_, error);
  require<DataError>(!fs::exists(status) || fs::is_regular_file(status), path,
                     ": must be a regular file or absent to be written, got ",
                     fs::is_directory(status) ? "a directory" : "a pipe, socket or device");
  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = unfinished_name(target_, counter++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  require<DataError>(descriptor_ >= 0, path_, ": cannot write: ", reason(errno));
  unfinished_.emplace(temporary_);  // not before: under that name another process may have a file of its own
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
  const bool synced = ::fsync(descriptor_) == 0;
  require<DataError>(synced, path_, ": cannot write: ", reason(errno));
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  require<DataError>(closed == 0, path_, ": cannot write: ", reason(errno));
  if (!put_in_place()) {
    const int failure = errno;
    require_absent(existing_ != Existing::keep || failure != EEXIST, path_);
    throw DataError(text(path_, ": cannot write: ", reason(failure)));
  }
  temporary_.clear();
  require<DataError>(sync_folder(fs::path(target_).parent_path().string()), path_,
                     ": cannot sync its folder: ", reason(EIO));
}

bool AtomicFile::put_in_place() const {
  return existing_ == Existing::keep ? rename_to_new(temporary_, target_)
                                     : ::rename(temporary_.c_str(), target_.c_str()) == 0;
}

void write_file_atomically(const std::string& path, std::string_view contents, Existing existing) {
  AtomicFile file(path, existing);
  file.write(contents);
  file.commit();
}

}  // namespace weyl
