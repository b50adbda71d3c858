#include "weyl/models/geomformer/geometry.h"

#include <ATen/TensorOperators.h>

#include "weyl/core/check.h"
#include "weyl/ops/edges/cutoff.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl::geomformer {

Tensor Neighbourhood::of_edges(const Tensor& of_basis) const {
  return basis_rows == EdgeRows::bond ? of_basis.index_select(0, edges.bond) : of_basis;
}

PairGeometry::PairGeometry(const Options& options, int64_t types)
    : cutoff_(options.cutoff), self_edges_(options.self_edges), types_(types) {
  if (options.basis == Basis::pair_gaussian) {
    gaussian_ = child("gaussian",
                      std::make_shared<GaussianBasis>(options.kernels, types * types, options.least_width));
    return;
  }
  require<ConfigError>(cutoff_.has_value(), "geomformer.basis: this one ends at the cut-off, which is off");
  const double upper = cutoff_->radius, lower = cutoff_->lower;
  if (options.basis == Basis::exp_normal) {
    radial_ = std::make_shared<ExpNormalBasis>(options.kernels, upper, lower, options.train_basis);
  } else if (options.basis == Basis::bessel) {
    radial_ = std::make_shared<BesselBasis>(options.kernels, upper, options.train_basis);
  } else {
    radial_ = std::make_shared<GaussianSmearing>(options.kernels, upper, lower, options.train_basis);
  }
  child("radial", radial_);
}

Edges PairGeometry::edges_of_pairs(const Points& points) const {
  return cutoff_ ? neighbours(points.positions, points.graphs, cutoff_->radius, points.cell, points.pbc,
                              self_edges_)
                 : all_pairs(points.graphs);
}

std::vector<int64_t> PairGeometry::edges(const Points& points) const {
  std::vector<int64_t> counts;
  for (int64_t g = 0; g < points.count(); ++g) {
    counts.push_back(points.graphs.size(g) * points.graphs.size(g));
  }
  if (cutoff_) {
    const Segments found = edges_of_pairs(points).of_graph;
    for (int64_t g = 0; g < points.count(); ++g) {
      counts[static_cast<size_t>(g)] = found.size(g);
    }
  }
  return counts;
}

Neighbourhood PairGeometry::operator()(const Points& points) const {
  Neighbourhood found;
  found.edges = edges_of_pairs(points);
  const Edges& edges = found.edges;
  // A potential is stiff: what rounding takes from a length comes back times the force, so float64.
  const auto wide = [](const Tensor& x) { return x.defined() ? x.to(at::kDouble) : x; };
  found.apart = displacements(wide(points.positions), edges, wide(points.cell));
  const Polar polar_form = polar(found.apart);
  found.lengths = polar_form.length.to(points.positions.scalar_type());
  found.directions = polar_form.direction.to(points.positions.scalar_type());
  if (cutoff_) {
    found.envelope = cutoff_weights(found.lengths, cutoff_->name, cutoff_->radius, cutoff_->lower);
  }
  if (radial_) {
    found.basis = (*radial_)(found.lengths.index_select(0, edges.edge_of_bond));
    found.basis_rows = EdgeRows::bond;
  } else {
    const Tensor kinds = types_ > 1 ? points.types.index_select(0, edges.centre) * types_ +
                                          points.types.index_select(0, edges.neighbour)
                                    : edges.centre.new_zeros({edges.count()});
    found.basis = (*gaussian_)(found.lengths, kinds);
  }
  return found;
}

StructuralBias::StructuralBias(int64_t kernels, int64_t heads, bool each_head)
    : heads_(heads), mlp_(child("mlp", std::make_shared<Mlp>(kernels, kernels, each_head ? heads : 1))) {}

Tensor StructuralBias::operator()(const Neighbourhood& near) const {
  const Tensor bias = near.of_edges((*mlp_)(near.basis));
  return bias.size(1) == heads_ ? bias : bias.expand({-1, heads_});
}

}  // namespace weyl::geomformer
