#include "tests/fuzz/point_table.h"

/// Bytes are refused, or the table has the sizes that it says, no larger than the file can hold, and finite coordinates.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return weyl::fuzz::refuses_or_reads_points(
      [&] { return weyl::parse_point_text({reinterpret_cast<const char*>(data), size}, "input"); }, size);
}
