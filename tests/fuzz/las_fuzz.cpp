#include <span>

#include "tests/fuzz/point_table.h"
#include "weyl/data/clouds/las.h"

/// Bytes are refused, or the table has the sizes that it says, and finite coordinates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return weyl::fuzz::refuses_or_reads_points(
      [&] { return weyl::parse_las(std::as_bytes(std::span(data, size)), "input"); });
}
