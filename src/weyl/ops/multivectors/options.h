// What other headers, torch-free ones too, say of multivectors.
#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// The activation of a multivector's gate: GELU by the tanh formula, x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2,
/// as GATr's authors have it; max(x, 0); 1 / (1 + exp(-x)).
enum class MultivectorGate { gelu, relu, sigmoid };
constexpr auto names_of(MultivectorGate) {
  return std::array<std::string_view, 3>{"gelu", "relu", "sigmoid"};
}

}  // namespace weyl
