#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weyl {

/// XXH3 of 64 bits with seed 0 (the library xxHash), as 16 hexadecimal digits in lower case, the most significant
/// first. It tells that bytes were damaged; it is no signature, and whoever changes bytes on purpose can make it fit.
std::string checksum(std::span<const std::byte> bytes);

/// The same hash as a number, with a seed: `checksum_number(b, checksum_number(a))` is one of a, then b, whose bytes
/// need not lie beside each other.
uint64_t checksum_number(std::span<const std::byte> bytes, uint64_t seed = 0);

constexpr size_t checksum_digits = 16;

}  // namespace weyl
