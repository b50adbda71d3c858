#include <cmath>
#include <cstdlib>
#include <span>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/las.h"

/// Bytes are refused, or the table has the sizes that it says and finite coordinates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto table = weyl::parse_las(std::as_bytes(std::span(data, size)), "input");
    const int64_t columns = table.columns(), x = table.find("x"), y = table.find("y"), z = table.find("z");
    bool sound = table.rows > 0 && x >= 0 && y >= 0 && z >= 0 && table.bytes.size() == table.names.size() &&
                 table.values.size() == static_cast<size_t>(table.rows * columns);
    for (int64_t row = 0; row < table.rows && sound; ++row) {
      for (const int64_t k : {x, y, z}) {
        sound = sound && std::isfinite(table.values[row * columns + k]);
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
