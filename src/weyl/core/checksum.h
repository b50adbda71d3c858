#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace weyl {

/// XXH3 of 64 bits with seed 0 (the library xxHash), as 16 hexadecimal digits in lower case, the most significant
/// first. It tells that bytes were damaged; it is no signature, and whoever changes bytes on purpose can make it fit.
std::string checksum(std::span<const std::byte> bytes);

constexpr size_t checksum_digits = 16;

}  // namespace weyl
