#pragma once

#include <array>
#include <string_view>

namespace at {
class Tensor;
}

namespace weyl {

/// Elementwise nonlinearities. gelu is the exact one, x (1 + erf(x / sqrt 2)) / 2.
enum class Activation { gelu, silu, relu, mish };
constexpr auto names_of(Activation) {
  return std::array<std::string_view, 4>{"gelu", "silu", "relu", "mish"};
}

at::Tensor activate(const at::Tensor& x, Activation law);

}  // namespace weyl
