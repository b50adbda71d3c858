#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace weyl {

/// The number of type T whose bytes stand at `bytes`, the least first, aligned or not.
template <class T>
T from_little_endian(const void* bytes) {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) {
    std::ranges::reverse(raw);
  }
  return std::bit_cast<T>(raw);
}

}  // namespace weyl
