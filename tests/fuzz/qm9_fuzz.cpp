#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/formats/qm9.h"

/// A text is refused with a DataError, or its frames fit together, with places that are finite and elements
/// that are known.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::Qm9Reader reader(weyl::bytes_of({reinterpret_cast<const std::byte*>(data), size}, "input"),
                           "input");
    for (weyl::AtomsFrame frame; reader.next(frame);) {
      try {
        weyl::check_frame(frame, "input");
      } catch (const weyl::ShapeError&) {
        std::abort();
      }
      for (const double x : frame.positions) {
        if (!std::isfinite(x)) {
          std::abort();
        }
      }
      for (const int z : frame.numbers) {
        if (z < 0 || z > 118) {
          std::abort();
        }
      }
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
