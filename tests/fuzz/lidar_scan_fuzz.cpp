#include <cmath>
#include <cstdlib>
#include <optional>
#include <span>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/lidar_scan.h"

/// The first byte says how much of the rest are labels, in 256ths, or 0 that there are none. Bytes are refused, or all of them are
/// points with finite coordinates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) {
    return 0;
  }
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const size_t cut = data[0] == 0 ? bytes.size() : bytes.size() - bytes.size() * data[0] / 256;
  std::optional<std::span<const std::byte>> labels;
  if (data[0] != 0) {
    labels = bytes.subspan(cut);
  }
  try {
    const auto table = weyl::parse_lidar_scan(bytes.first(cut), labels, "input");
    bool sound = table.columns() == (labels ? 6 : 4) && static_cast<size_t>(table.rows) * 16 == cut;
    for (int64_t row = 0; row < table.rows && sound; ++row) {
      for (int64_t k = 0; k < 3; ++k) {
        sound = sound && std::isfinite(table.values[row * table.columns() + k]);
      }
    }
    if (!sound) {
      std::abort();
    }
  } catch (const weyl::DataError&) {
  } catch (const weyl::MemoryError&) {
  }
  return 0;
}
