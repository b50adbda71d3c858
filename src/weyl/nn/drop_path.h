#pragma once

#include <array>
#include <string_view>

namespace at {
class Tensor;
}

namespace weyl {

struct Segments;

/// What drop path drops as one: a whole graph, or each node by itself (as the authors' ragged code does).
enum class DropPathBy { graph, node };
constexpr auto names_of(DropPathBy) {
  return std::array<std::string_view, 2>{"graph", "node"};
}

/// The factors (N) of stochastic depth for the rows of x (N, ...), in the type of x. A factor is zero with probability
/// `rate`, else 1 / (1 - rate). `by` decides whether all rows of a graph share a factor. Draws from torch's generator;
/// undefined when rate is 0.
at::Tensor drop_path_factors(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by);

/// Stochastic depth: the rows of x (N, ...) times their drop_path_factors; x itself when rate is 0.
at::Tensor drop_path(const at::Tensor& x, const Segments& graphs, double rate, DropPathBy by);

}  // namespace weyl
