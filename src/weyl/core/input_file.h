#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weyl {

/// A file open for reading by position, from several threads too. DataError with the path and the system's reason
/// when it is absent or not a regular file (a directory, a pipe: opening one never blocks), UnreadableError when it is
/// there and cannot be opened or read.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }  // when it was opened
  int descriptor() const { return descriptor_; }
  /// Fills `out` with the bytes from `offset` on, or as much of it as the file now has; the number of bytes.
  size_t read(uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace weyl
