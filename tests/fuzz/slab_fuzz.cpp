#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/core/random.h"
#include "weyl/data/atoms/extended_xyz.h"
#include "weyl/data/atoms/slab.h"

/// A text is refused with a DataError, or its frames are slabs whose numbers fit together and are finite.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    weyl::ExtendedXyzReader reader(weyl::bytes_of({reinterpret_cast<const std::byte*>(data), size}, "input"),
                                   "input");
    for (weyl::AtomsFrame frame; reader.next(frame);) {
      weyl::Slab slab = weyl::slab_of(frame, reader);
      const size_t n = slab.numbers.size();
      bool sound = slab.positions.size() == n && slab.tags.size() == n && slab.free.size() == n &&
                   (slab.relaxed.empty() || slab.relaxed.size() == n);
      for (const auto* places : {&slab.positions, &slab.relaxed}) {
        for (const weyl::Vector3& x : *places) {
          sound = sound && std::isfinite(x[0]) && std::isfinite(x[1]) && std::isfinite(x[2]);
        }
      }
      if (!sound || (slab.energy && !std::isfinite(*slab.energy)) ||
          weyl::slab_images(slab, 8).size() > 8 * n) {
        std::abort();
      }
      if (!slab.relaxed.empty()) {
        weyl::Stream stream(0, "fuzz");
        weyl::add_noise(slab, {.probability = 1}, stream);
      }
    }
  } catch (const weyl::DataError&) {
    return 0;
  }
  return 0;
}
