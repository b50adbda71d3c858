#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/images/digit_files.h"

/// Text is refused with a DataError, or its images come back from the lines that we write of them.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto found = weyl::parse_amat({reinterpret_cast<const char*>(data), size}, "input");
    if (weyl::parse_amat(weyl::amat_text(found.pixels, found.labels), "written") != found) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
