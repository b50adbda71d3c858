#include "weyl/ops/edges/bond_gradient.h"

#include <ATen/ops/zeros.h>

#include <atomic>

namespace weyl {
namespace {

std::atomic<int> without_bond_gradients{0};

/// f(first node, second node, graph, step, slope) for all bonds.
template <class F>
void each_bond(const BondGradient& g, const F& f) {
  const auto *edge = g.edges.edge_of_bond.const_data_ptr<int64_t>(),
             *centre = g.edges.centre.const_data_ptr<int64_t>(),
             *neighbour = g.edges.neighbour.const_data_ptr<int64_t>();
  const auto *step = g.steps.const_data_ptr<double>(), *slope = g.slopes.const_data_ptr<double>();
  size_t graph = 0;
  for (int64_t b = 0; b < g.edges.bonds(); ++b) {
    while (edge[b] >= g.edges.of_graph.offsets[graph + 1]) {
      ++graph;
    }
    f(centre[edge[b]], neighbour[edge[b]], graph, step + 3 * b, slope + 3 * b);
  }
}

/// matrix += factor times the symmetric part of step slope^T
void add_strain(const double* step, const double* slope, double factor, double* matrix) {
  for (int64_t a = 0; a < 3; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      matrix[3 * a + b] += factor * 0.5 * (step[a] * slope[b] + step[b] * slope[a]);
    }
  }
}

}  // namespace

Tensor forces_of(const BondGradient& g) {
  Tensor forces = at::zeros({g.edges.nodes(), 3}, at::kDouble);
  auto* f = forces.mutable_data_ptr<double>();
  each_bond(g, [&](int64_t i, int64_t j, size_t, const double*, const double* slope) {
    for (int64_t x = 0; x < 3; ++x) {
      f[3 * i + x] += slope[x];
      f[3 * j + x] -= slope[x];
    }
  });
  return forces;
}

Tensor slopes_by_strain(const BondGradient& g) {
  Tensor slopes = at::zeros({g.edges.graphs(), 3, 3}, at::kDouble);
  auto* s = slopes.mutable_data_ptr<double>();
  each_bond(g, [&](int64_t, int64_t, size_t graph, const double* step, const double* slope) {
    add_strain(step, slope, 1, s + 9 * graph);
  });
  return slopes;
}

Tensor slopes_by_node_strains(const BondGradient& g) {
  Tensor slopes = at::zeros({g.edges.nodes(), 3, 3}, at::kDouble);
  auto* s = slopes.mutable_data_ptr<double>();
  each_bond(g, [&](int64_t i, int64_t j, size_t, const double* step, const double* slope) {
    add_strain(step, slope, 0.5, s + 9 * i);
    add_strain(step, slope, 0.5, s + 9 * j);
  });
  return slopes;
}

WithoutBondGradients::WithoutBondGradients() {
  ++without_bond_gradients;
}
WithoutBondGradients::~WithoutBondGradients() {
  --without_bond_gradients;
}
bool WithoutBondGradients::active() {
  return without_bond_gradients.load(std::memory_order_relaxed) > 0;
}

}  // namespace weyl
