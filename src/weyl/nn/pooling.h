#pragma once

#include <array>
#include <string_view>

namespace at {
class Tensor;
}

namespace weyl {

struct Segments;

/// How rows of nodes become rows of graphs: the sum divided by a typical number of nodes, or the mean.
enum class Pooling { sum, mean };
constexpr auto names_of(Pooling) {
  return std::array<std::string_view, 2>{"sum", "mean"};
}

/// Rows of each segment repeated for its nodes: (B, ...) -> (N, ...).
at::Tensor spread(const at::Tensor& rows, const Segments& segments);

/// Number of nodes of each segment, at least 1, in the dtype of `like`: (B).
at::Tensor counts_of(const Segments& segments, const at::Tensor& like);

/// Sums over the nodes of each graph, (N, ...) in any floating dtype -> (B, ...) in float64, in the order of the
/// nodes: a graph gives the same bits alone and in a batch (on CPUs). In float32, 10^4 eV come in steps of 1 meV, and
/// an energy of many atoms would lose what forces and relative energies are made of. Gradients come back in x's dtype.
at::Tensor sum_nodes(const at::Tensor& x, const Segments& graphs);

at::Tensor pool_nodes(const at::Tensor& x, const Segments& graphs, Pooling law, double typical_nodes);

}  // namespace weyl
