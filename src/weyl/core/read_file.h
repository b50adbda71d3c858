#pragma once

#include <cstddef>
#include <string>

namespace weyl {

/// The contents of a file, or why there are none (without its path; empty: nothing is wrong).
struct FileContents {
  std::string text, fault;
};

/// Reads a whole small file. A fault: it cannot be opened or read, it is no regular file (a pipe may never
/// begin, a device never end; neither blocks), it has more than `most` bytes.
FileContents read_file(const std::string& path, size_t most);

/// The contents of a file of any size. DataError: the path and the fault.
std::string contents_of(const std::string& path);

}  // namespace weyl
