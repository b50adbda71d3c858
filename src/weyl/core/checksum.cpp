#include "weyl/core/checksum.h"

#define XXH_INLINE_ALL  // the header has all of it: nothing is linked
#include <xxhash.h>

namespace weyl {

uint64_t checksum_number(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);  // of seed 0: XXH3_64bits
}

std::string checksum(std::span<const std::byte> bytes) {
  uint64_t value = checksum_number(bytes);
  std::string digits(checksum_digits, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4) {
    *digit = "0123456789abcdef"[value & 0xf];
  }
  return digits;
}

}  // namespace weyl
