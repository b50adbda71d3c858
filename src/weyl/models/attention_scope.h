#pragma once

#include <array>
#include <string_view>

namespace weyl {

/// What a head attends to: every node of the graph; or, hierarchical, half of the heads only the nodes of the node's own
/// object (ops/attention/hierarchical_attention.h).
enum class AttentionScope { global, hierarchical };
constexpr auto names_of(AttentionScope) {
  return std::array<std::string_view, 2>{"global", "hierarchical"};
}

}  // namespace weyl
