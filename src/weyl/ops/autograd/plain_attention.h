#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// Attention as a torch expression.
///   pairs   over a list of the pairs of each graph, which is its definition
///   padded  over graphs padded to one size, which is what programs without ragged batches do
enum class PlainAttention { pairs, padded };
constexpr auto names_of(PlainAttention) {
  return std::array<std::string_view, 2>{"pairs", "padded"};
}

}  // namespace weyl
