#pragma once

#include <exception>
#include <string>

namespace weyl {

/// What an exception comes to for whoever asked, a caller of the C interface or of the program.
struct Fault {
  enum class Kind { failed, shape, usage, data, memory };
  Kind kind = Kind::failed;
  std::string line;  // one line, as it may be shown (core/quote.h)
};

/// ShapeError is shape, ConfigError usage; DataError, and a question about a path that the system does not answer, data;
/// want of memory or of threads, also LibTorch's, memory. Of LibTorch's errors the stack is left out.
Fault fault_of(const std::exception& error);

}  // namespace weyl
