#pragma once

#include <cstddef>
#include <string>

namespace weyl {

/// The contents of a file, or why there are none (without its path; empty: nothing is wrong).
struct FileContents {
  std::string text, fault;
  int error = 0;  // errno, when the system is the reason
};

/// Reads a whole small file. A fault: it cannot be opened or read, it is no regular file (a pipe may never
/// begin, a device never end; neither blocks), it has more than `most` bytes.
FileContents read_file(const std::string& path, size_t most);

/// The contents of a file of any size. DataError: the path and the fault; UnreadableError as throw_unread.
std::string contents_of(const std::string& path);

/// Throws what is to be said of a file that the system did not open or read: DataError when there is no such file,
/// UnreadableError otherwise. `error`: errno.
[[noreturn]] void throw_unread(const std::string& message, int error);

}  // namespace weyl
