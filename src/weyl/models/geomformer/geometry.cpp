#include "weyl/models/geomformer/geometry.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tensor.h>

#include "weyl/core/check.h"
#include "weyl/core/to_device.h"
#include "weyl/ops/edges/cutoff.h"
#include "weyl/ops/edges/neighbours.h"

namespace weyl::geomformer {

namespace {

/// Edges at a time in evaluation: what a layer of width 64 and its derivative make of one is 5 kB, of all these 0.6 GB.
constexpr int64_t kAtOnce = 1 << 17;

}  // namespace

Tensor of_edges(const Tensor& of_basis, EdgeRows rows, const Edges& edges) {
  return rows == EdgeRows::bond ? of_basis.index_select(0, edges.bond) : of_basis;
}

PairGeometry::PairGeometry(const Options& options, int64_t types)
    : cutoff_(options.cutoff),
      self_edges_(has_self_edges(options)),
      apart_(uses_neighbours(options.input)),
      basis_learns_(learns_basis(options)),
      types_(types) {
  if (options.basis == Basis::pair_gaussian) {
    gaussian_ = child("gaussian",
                      std::make_shared<GaussianBasis>(options.kernels, types * types, options.least_width));
    return;
  }
  require<ConfigError>(cutoff_.has_value(),
                       "model.geomformer.basis: this one ends at the cut-off, which is off");
  const double upper = cutoff_->radius, lower = cutoff_->lower;
  if (options.basis == Basis::exp_normal) {
    radial_ = std::make_shared<ExpNormalBasis>(options.kernels, upper, lower, basis_learns_);
  } else if (options.basis == Basis::bessel) {
    radial_ = std::make_shared<BesselBasis>(options.kernels, upper, basis_learns_);
  } else {
    radial_ = std::make_shared<GaussianSmearing>(options.kernels, upper, lower, basis_learns_);
  }
  child("radial", radial_);
}

Edges PairGeometry::edges_of_pairs(const Points& points) const {
  return cutoff_ ? neighbours(points.positions, points.graphs, cutoff_->radius, points.cell, points.pbc,
                              self_edges_)
                 : all_pairs(points.graphs);
}

Around PairGeometry::around(double graph_nodes) const {
  const double self = self_edges_ || !cutoff_ ? 1 : 0, others = graph_nodes - 1;
  return {others + self, radial_ ? others / 2 + self : others + self, basis_learns_};
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
  found.at_once = training() || !cutoff_ ? found.at_once : kAtOnce;
  found.basis_rows = radial_ ? EdgeRows::bond : EdgeRows::edge;
  const auto f = [cutoff = cutoff_, radial = radial_, gaussian = gaussian_, types = types_, apart = apart_](
                     const Tensors& in, const Edges& edges) {
    const Tensor &positions = in[0], &cell = in[1], &kind = in[2], &strains = in[3];
    // A potential is stiff: what rounding takes from a length comes back times the force, so float64.
    const auto wide = [](const Tensor& x) { return x.defined() ? x.to(at::kDouble) : x; };
    Tensor away = displacements(wide(positions), edges, wide(cell));
    if (strains.defined()) {
      const Tensor of_ends =
          0.5 * (strains.index_select(0, edges.centre) + strains.index_select(0, edges.neighbour));
      away = away + at::matmul(away.unsqueeze(1), of_ends).squeeze(1);
    }
    const Polar polar_form = polar(away);
    const Tensor lengths = polar_form.length.to(positions.scalar_type());
    Tensors out{lengths, polar_form.direction.to(positions.scalar_type())};
    if (radial) {
      out.push_back((*radial)(lengths.index_select(0, edges.edge_of_bond)));
    } else {
      const Tensor kinds =
          types > 1 ? kind.index_select(0, edges.centre) * types + kind.index_select(0, edges.neighbour)
                    : edges.centre.new_zeros({edges.count()});
      out.push_back((*gaussian)(lengths, kinds));
    }
    if (cutoff) {
      out.push_back(cutoff_weights(lengths, cutoff->name, cutoff->radius, cutoff->lower));
    }
    if (apart) {
      out.push_back(away);
    }
    return out;
  };
  EdgeBlockForm form{{BlockRows::node, BlockRows::whole, BlockRows::node, BlockRows::node},
                     {BlockRows::edge, BlockRows::edge, found.block_rows()}};
  form.results.resize(form.results.size() + (cutoff_ ? 1 : 0) + (apart_ ? 1 : 0), BlockRows::edge);
  const Tensors out = found.in_blocks(f, form, {points.positions, points.cell, points.types, points.strains});
  found.lengths = out[0];
  found.directions = out[1];
  found.basis = out[2];
  if (cutoff_) {
    found.envelope = out[3];
  }
  if (apart_) {
    found.apart = out.back();
  }
  return found;
}

Tensor pairs_of_edges(const Tensor& pairs, const Segments& graphs, const Neighbourhood& near) {
  if (!near.envelope.defined()) {
    return pairs;  // all pairs, in their order
  }
  std::vector<int64_t> rows;  // of each node i: that of its pair (i, j), less j
  int64_t row = 0;
  for (int64_t g = 0; g < graphs.count(); ++g) {
    const int64_t begin = graphs.offsets[static_cast<size_t>(g)],
                  n = graphs.offsets[static_cast<size_t>(g) + 1] - begin;
    for (int64_t i = 0; i < n; ++i) {
      rows.push_back(row - begin);
      row += n;
    }
  }
  const Tensor of_centres = to_device(at::tensor(rows, at::kLong), pairs.device());
  return pairs.index_select(0, of_centres.index_select(0, near.edges.centre) + near.edges.neighbour);
}

StructuralBias::StructuralBias(int64_t kernels, int64_t heads, bool each_head, LinearInit init)
    : heads_(heads),
      kernels_(kernels),
      outputs_(each_head ? heads : 1),
      mlp_(child("mlp", std::make_shared<Mlp>(kernels, kernels, outputs_, Activation::gelu, init))) {}

Tensor StructuralBias::operator()(const Neighbourhood& near) const {
  const auto f = [mlp = mlp_, rows = near.basis_rows](const Tensors& in, const Edges& edges) {
    return Tensors{of_edges((*mlp)(in[0]), rows, edges)};
  };
  const Tensor bias = near.in_blocks(f, {{near.block_rows()}, {BlockRows::edge}}, {near.basis})[0];
  return bias.size(1) == heads_ ? bias : bias.expand({-1, heads_});
}

Work StructuralBias::work(const Around& around) const {
  const auto kernels = static_cast<double>(kernels_), outputs = static_cast<double>(outputs_);
  return around.of_basis(kernels * kernels) + around.basis_rows * Work::product(kernels * outputs);
}

}  // namespace weyl::geomformer
