#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weyl {

/// A whole file mapped read-only, for formats that are parsed in place; what is read once from the front, and our
/// own tensor files, are read by InputFile. DataError as InputFile's; MemoryError: there are not enough addresses for it.
/// An empty file is an empty span.
///
/// When another program shortens the file, or its disk fails, the system answers the next read with SIGBUS: a
/// program that wants to end with a line that names the file installs a handler that asks `lost_file` (the
/// library installs none). Files written by AtomicFile are replaced, never shortened.
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
  Place* place_ = nullptr;  // where a handler of signals finds line_
};

/// What to say of a read at `address` that the system answered with SIGBUS: one line that names the file; null when no
/// MappedFile is there. For a handler of signals: it takes no lock and no memory.
const char* lost_file(const void* address);

}  // namespace weyl
