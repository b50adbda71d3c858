#include "weyl/core/input_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

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

/// Places are never given back to the system, only to the next file, so that a handler of signals, which may
/// interrupt anything, can walk them. `begin` is set last and cleared first.
struct MappedFile::Place {
  std::atomic<bool> taken{true};
  std::atomic<const std::byte*> begin{nullptr}, end{nullptr};
  std::atomic<const char*> line{nullptr};
  Place* next = nullptr;

  static std::atomic<Place*> first;
  static_assert(decltype(first)::is_always_lock_free && decltype(line)::is_always_lock_free);

  static Place& take() {
    for (Place* place = first; place != nullptr; place = place->next) {
      bool taken = false;
      if (place->taken.compare_exchange_strong(taken, true)) {
        return *place;
      }
    }
    auto* place = new Place;
    place->next = first;
    while (!first.compare_exchange_weak(place->next, place)) {
    }
    return *place;
  }
};

std::atomic<MappedFile::Place*> MappedFile::Place::first{nullptr};

MappedFile::MappedFile(const std::string& path) {
  const InputFile file(path);
  if (file.size() == 0) {
    return;  // nothing can be mapped
  }
  line_ = visible(path) + ": must stay as it is while it is read, but was shortened, or its disk failed";
  place_ = &Place::take();
  const auto size = static_cast<size_t>(file.size());
  void* begin = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (begin == MAP_FAILED) {
    const int error = errno;
    place_->taken = false;
    const std::string said = text(path, ": cannot map: ", std::generic_category().message(error));
    require<MemoryError>(error != ENOMEM && error != EAGAIN, said);
    throw DataError(said);
  }
  bytes_ = {static_cast<const std::byte*>(begin), size};
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  place_->line = line_.c_str();
  place_->end = bytes_.data() + (size + page - 1) / page * page;  // reads of words end behind the last byte
  place_->begin = bytes_.data();
}

MappedFile::~MappedFile() {
  if (place_ != nullptr) {
    place_->begin = nullptr;
    ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    place_->taken = false;
  }
}

const char* lost_file(const void* address) {
  for (const auto* place = MappedFile::Place::first.load(); place != nullptr; place = place->next) {
    const std::byte* begin = place->begin;
    const bool inside = begin != nullptr && begin <= address && address < place->end.load();
    const char* line = place->line;
    if (inside && place->begin == begin) {  // else the place was given to another file meanwhile
      return line;
    }
  }
  return nullptr;
}

}  // namespace weyl
