#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/volumes/text_volumes.h"

/// Bytes are refused with a DataError, or the volume has the sizes that it says and an affine of numbers.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto image = weyl::parse_text_volume({reinterpret_cast<const std::byte*>(data), size}, "input");
    bool sound = weyl::byte_count(image.header.type, image.header.shape) == image.bytes.size() &&
                 image.header.shape.size() == 3;
    for (const double x : weyl::affine_of(image.header)) {
      sound = sound && std::isfinite(x);
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
