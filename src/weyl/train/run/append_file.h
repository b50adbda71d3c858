#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "weyl/core/json.h"

namespace weyl {

/// A file that grows by whole records. A record that cannot be written in full (disk full, limit reached) is taken
/// back, so the file never ends in a torn record while the process lives. A new file that gets no record is removed at
/// the end. Errors are DataError with the file and the system's reason.
class AppendFile {
 public:
  /// Opens or creates a file and cuts it to `size` bytes, unless `size` is negative. DataError: it is shorter, is no
  /// regular file, or is a symbolic link.
  explicit AppendFile(std::string path, int64_t size = -1);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;

  void append(std::string_view record);
  void sync();                            // to the disk
  int64_t size() const { return size_; }  // bytes
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  bool new_ = false;
};

/// Renames a damaged file (or whatever has its name) to the first free name of PATH.damaged, PATH.damaged-2, ... and
/// returns that name: a new file can begin in its place, and nothing is lost. DataError when it cannot be renamed.
std::string set_aside(const std::string& path);

/// The whole contents of a file (contents_of, with its errors); empty when it does not exist.
std::string read_if_there(const std::string& path);
/// The same of a file of JSON; null when it does not exist or is empty. DataError: it is no JSON.
Json json_if_there(const std::string& path);

}  // namespace weyl
