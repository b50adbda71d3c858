#include "weyl/core/checksum.h"

#define XXH_INLINE_ALL  // the header has all of it: nothing is linked
#include <xxhash.h>

namespace weyl {

std::string checksum(std::span<const std::byte> bytes) {
  uint64_t value = XXH3_64bits(bytes.data(), bytes.size());
  std::string digits(checksum_digits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4) {
    *digit = "0123456789abcdef"[value & 0xf];
  }
  return digits;
}

}  // namespace weyl
