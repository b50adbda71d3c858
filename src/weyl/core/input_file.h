#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weyl {

/// The contents of a file, or the fault that it has none; the fault does not name the path, and is empty when all is
/// well.
struct FileContents {
  std::string text, fault;
  int error = 0;  // errno, when the system is the reason
};

/// Reads a whole small file. It is a fault when the file cannot be opened or read, is not a regular file, or has more
/// than `most` bytes. Pipes and devices do not block the call: a pipe may never begin, and a device never end.
FileContents read_file(const std::string& path, size_t most);

/// The contents of a file of any size. DataError with the path and the fault; UnreadableError as of throw_unread.
std::string contents_of(const std::string& path);

/// Throws the message about a file that the system did not open or read. `error` (errno) decides: DataError when there
/// is no such file, UnreadableError otherwise.
[[noreturn]] void throw_unread(const std::string& message, int error);

/// A file that is open for reading by position; several threads may read at once. DataError with the path and the
/// system's reason when it is absent or not a regular file (a directory, or a pipe, whose opening never blocks).
/// UnreadableError when it exists but cannot be opened or read.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // at the time of opening
  int descriptor() const { return descriptor_; }
  /// Fills `out` with the bytes from `offset` on, or with as many as the file still has. Returns their number.
  size_t read(uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

/// A whole file mapped read-only, for formats that are parsed in place. (InputFile reads our own tensor files, and
/// formats that are read once from front to back.) An empty file is an empty span. DataError as of InputFile;
/// MemoryError: there are not enough addresses for it.
///
/// When another program shortens the file, or its disk fails, the system answers the next read with SIGBUS. A program
/// that wants to end with a line that names the file installs a signal handler that asks `lost_file`; the library
/// installs none. Files written by AtomicFile are replaced, never shortened.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  friend const char* lost_file(const void*);
  struct Place;
  std::span<const std::byte> bytes_;
  std::string line_;
  Place* place_ = nullptr;  // where a signal handler finds line_
};

/// The message about a read at `address` that the system answered with SIGBUS: one line that names the file. Null when
/// no MappedFile lies there. A signal handler may call it: it takes no lock and no memory.
const char* lost_file(const void* address);

}  // namespace weyl
