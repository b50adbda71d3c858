#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weyl {

/// A whole file mapped read-only. DataError with the path and the system's reason when it is absent,
/// unreadable or not a regular file (a directory, a pipe: opening one never blocks). An empty file is an
/// empty span. The file must not be truncated by others while it is mapped: the system answers such a read
/// with SIGBUS. Files written by AtomicFile are replaced, never truncated.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return bytes_; }
  /// The whole pages of bytes [begin, end), which were read and will not be read soon, leave the memory of
  /// the process. They may be read again, from the file.
  void release(size_t begin, size_t end) const;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace weyl
