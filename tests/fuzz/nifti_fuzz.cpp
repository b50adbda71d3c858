#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/volumes/nifti.h"

/// Bytes are refused with a DataError, or the volume has the sizes that it says, an affine and classes that
/// are in range, and is written again as it was read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto image = weyl::parse_nifti({reinterpret_cast<const std::byte*>(data), size}, "input");
    const auto count = weyl::byte_count(image.header.type, image.header.shape);
    bool sound = count == image.bytes.size() &&
                 weyl::values_of(image).size() * static_cast<size_t>(weyl::size_of(image.header.type)) ==
                     image.bytes.size();
    for (const double x : weyl::affine_of(image.header)) {
      sound = sound && std::isfinite(x);
    }
    const auto axis = weyl::orientation_of(weyl::affine_of(image.header)).axis;
    sound = sound && axis[0] + axis[1] + axis[2] == 3 && axis[0] != axis[1];
    if (image.bytes.size() < 1U << 20U) {
      const auto again = weyl::parse_nifti(weyl::nifti_bytes(image.header, image.bytes), "again");
      sound = sound && again.bytes == image.bytes && again.header.shape == image.header.shape;
    }
    if (!sound) {
      std::abort();
    }
    for (const uint8_t label : weyl::classes_of(image, weyl::counted_numbers(4), "input")) {
      if (label > 3) {
        std::abort();
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
