#include "tests/fuzz/point_table.h"
#include "weyl/data/clouds/pcd.h"

/// Bytes are refused, or the table has the sizes that it says, and finite coordinates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return weyl::fuzz::refuses_or_reads_points(
      [&] { return weyl::parse_pcd({reinterpret_cast<const char*>(data), size}, "input"); });
}
