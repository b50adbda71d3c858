#pragma once

#include <array>
#include <string_view>

namespace at {
class Tensor;
}

namespace weyl {

struct Segments;

/// What drop path drops as one: a whole graph, or (the authors' ragged code) each node by itself.
enum class DropPathBy { graph, node };
constexpr auto names_of(DropPathBy) {
  return std::array<std::string_view, 2>{"graph", "node"};
}

/// Stochastic depth: what each row of x (N, ...) is multiplied by (N), of its type: with probability `rate` zero, all rows of a
/// graph together or each by itself, else 1 / (1 - rate). Draws from torch's generator; undefined when rate is 0.
at::Tensor drop_path_factors(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by);

/// Stochastic depth: rows of x (N, ...) are zeroed with probability `rate`, all rows of a graph together or
/// each by itself, the others scaled by 1 / (1 - rate): x times drop_path_factors, x itself when rate is 0.
at::Tensor drop_path(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by);

}  // namespace weyl
