#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// The initialisation of a linear map.
///   torch   torch's default: weight and bias from U(-1/sqrt(I), 1/sqrt(I))
///   xavier  the weight from U(-a, a) with a = sqrt(6 / (I + O)), and the bias zero
enum class LinearInit { torch, xavier };
constexpr auto names_of(LinearInit) {
  return std::array<std::string_view, 2>{"torch", "xavier"};
}

}  // namespace weyl
