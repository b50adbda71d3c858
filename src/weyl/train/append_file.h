#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weyl {

/// A file that grows by whole records. A record that does not fit (disk full, limit reached) is taken back,
/// so the file never ends in a torn one while the process lives; a file that is made here and gets none is
/// removed with it. Errors are DataError: file and the system's
/// reason.
class AppendFile {
 public:
  /// Opens or creates a file and cuts it to `size` bytes when given; DataError when it is shorter, or a symbolic link.
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

/// Gives a damaged file (or whatever else has its name) the first free name of PATH.damaged, PATH.damaged-2, ...
/// beside it, which is returned: a new file can begin in its place and nothing is lost. DataError when it cannot be
/// renamed.
std::string set_aside(const std::string& path);

/// The whole contents (contents_of, with its errors); empty when it does not exist.
std::string read_if_there(const std::string& path);

}  // namespace weyl
