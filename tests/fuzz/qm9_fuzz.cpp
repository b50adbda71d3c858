#include "tests/fuzz/frames.h"
#include "weyl/data/atoms/qm9.h"

/// A text is refused with a DataError, or its frames fit together, with places that are finite and elements
/// that are known.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::Qm9Reader reader(weyl::bytes_of({reinterpret_cast<const std::byte*>(data), size}, "input"),
                           "input");
    weyl::expect_sound_frames(reader);
  } catch (const weyl::DataError&) {
  }
  return 0;
}
