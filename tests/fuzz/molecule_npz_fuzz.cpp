#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/atoms/molecule_npz.h"

/// An archive is refused with a DataError, or its frames fit together, with places that are finite.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::MoleculeNpzReader reader({reinterpret_cast<const std::byte*>(data), size}, "input", 1 << 20);
    int64_t frames = 0;
    for (weyl::AtomsFrame frame; frames < 1000 && reader.next(frame); ++frames) {
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
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
