#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/containers/npy.h"

/// A file is refused with a DataError, or its array comes back from the bytes that we write of it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto array = weyl::parse_npy(std::as_bytes(std::span(data, size)), "input");
    if (weyl::parse_npy(weyl::npy_bytes(array), "written") != array) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
