#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace weyl {

/// Every error of the project is one line: where, what must hold, what was found.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller broke a function's contract (shapes, dtypes, ranges). Exit code 1.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// Usage or configuration. The message names the file, the line and the key. Exit code 2.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A data, weight or model file. The message names the file and the record. Exit code 3.
class DataError : public Error {
 public:
  using Error::Error;
};

/// A file that is there, but that the system does not open or read (too many open files, no permission, a broken
/// disk): it may be whole, so nobody takes it for damaged.
class UnreadableError : public DataError {
 public:
  using DataError::DataError;
};

/// The parts of a message, streamed one after the other.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws `Kind` with the parts as its message unless `holds`.
template <class Kind = ShapeError, class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) [[unlikely]] {
    throw Kind(text(parts...));
  }
}

}  // namespace weyl
