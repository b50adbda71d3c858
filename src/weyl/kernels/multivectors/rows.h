#pragma once

#include <cstdint>

namespace weyl::kernels {

/// Multivectors component-major, (16, N, C): component i of channel c of token n is at data[i component + n row + c].
/// Slices along channels, of a wider array, are such too. Null data: there are none.
template <class T>
struct MultivectorRows {
  T* data = nullptr;
  int64_t component = 0, row = 0;
  [[gnu::always_inline]] constexpr T* at(int64_t i, int64_t n) const {
    return data + i * component + n * row;
  }
};

}  // namespace weyl::kernels
