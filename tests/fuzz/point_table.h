// What every reader of points promises its callers.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/data/clouds/point_text.h"

namespace weyl::fuzz {

/// `parse` refuses its bytes, or gives a table of the sizes that it says, of at most `most` numbers, with finite coordinates.
template <class Parse>
int refuses_or_reads_points(const Parse& parse, size_t most = SIZE_MAX) {
  try {
    const PointTable table = parse();
    const int64_t columns = table.columns(), x = table.find("x"), y = table.find("y"), z = table.find("z");
    bool sound = table.rows > 0 && x >= 0 && y >= 0 && z >= 0 && table.values.size() <= most &&
                 table.values.size() == static_cast<size_t>(table.rows * columns) &&
                 table.bytes.size() == table.names.size();
    for (int64_t row = 0; row < table.rows && sound; ++row) {
      for (const int64_t k : {x, y, z}) {
        sound = sound && std::isfinite(table.values[row * columns + k]);
      }
    }
    if (!sound) {
      std::abort();
    }
  } catch (const DataError&) {
  } catch (const MemoryError&) {
  }
  return 0;
}

}  // namespace weyl::fuzz
