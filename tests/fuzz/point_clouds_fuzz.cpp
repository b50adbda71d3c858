#include <cmath>
#include <cstdlib>

#include "weyl/core/check.h"
#include "weyl/data/formats/point_clouds.h"

/// Bytes are refused with a DataError, or hold as many finite positions as they say.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto clouds = weyl::parse_point_clouds({reinterpret_cast<const std::byte*>(data), size}, "input");
    bool sound = clouds.count() > 0 && clouds.points > 0 &&
                 clouds.positions.size() == static_cast<size_t>(3 * clouds.points * clouds.count());
    for (const float x : clouds.positions) {
      sound = sound && std::isfinite(x);
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  }
  return 0;
}
