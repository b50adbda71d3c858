#include "model.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <weyl/core/check.h>
#include <weyl/nn/norms.h>
#include <weyl/ops/edges/edges.h>
#include <weyl/ops/segment.h>

#include <algorithm>
#include <cmath>

namespace skeleton {
namespace {

/// exp(-d^2 / w_k^2), w_k = reach / 2^k, of squared distances (P, 1): (P, shells). Smooth where two nodes
/// meet.
Tensor shells_of(const Tensor& squared, const SkeletonOptions& o) {
  std::vector<Tensor> shells;
  for (int64_t k = 0; k < o.shells; ++k) {
    const double width = o.reach / std::exp2(k);
    shells.push_back((squared * (-1 / (width * width))).exp());
  }
  return at::cat(shells, 1);
}

}  // namespace

Skeleton::Skeleton(const SkeletonOptions& options, const weyl::Interface& interface)
    : PointsModel(interface), options(options), columns_(weyl::input_columns(interface, "skeleton")) {
  using weyl::ConfigError, weyl::require;
  const auto odd = [](const std::vector<bool>& parities) { return std::ranges::count(parities, true) > 0; };
  require<ConfigError>(!odd(columns_.scalars) && !odd(columns_.vectors),
                       "skeleton: features must be scalars and vectors, got one that a mirror turns round");
  for (const auto& q : interface.outputs) {
    require<ConfigError>(q.level == weyl::Level::node && q.kind == weyl::Kind::vector,
                         "skeleton: outputs must be vectors of nodes, got '", q.name, "'");
    outputs_ += q.channels;
  }
  const int64_t vectors = columns_.vector_count();
  inputs_ = 1 + columns_.scalar_count() + vectors * vectors;
  in_ = child("in", std::make_shared<weyl::Linear>(inputs_, options.width));
  for (int64_t i = 0; i < options.blocks; ++i) {
    blocks_.push_back(child("blocks." + std::to_string(i), std::make_shared<DistanceBlock>(options)));
  }
  pull_ =
      child("pull", std::make_shared<weyl::Mlp>(2 * options.width + options.shells, options.width, outputs_));
  turn_ = child("turn", std::make_shared<weyl::Linear>(options.width, outputs_ * vectors));
}

weyl::Named Skeleton::forward(const weyl::Points& points) {
  const int64_t n = points.nodes();
  const auto [scalars, vectors] = weyl::input_values(points, interface);
  const weyl::Edges pairs = weyl::all_pairs(points.graphs);
  const auto of = [](const Tensor& nodes, const Tensor& rows) { return nodes.index_select(0, rows); };
  const Tensor line = of(points.positions, pairs.neighbour) - of(points.positions, pairs.centre);  // (P, D)
  const Tensor shells = shells_of(line.square().sum(1, /*keepdim=*/true), options);

  std::vector<Tensor> invariants{at::ones({n, 1}, points.positions.options())};
  if (scalars.defined()) {
    invariants.push_back(scalars);
  }
  if (vectors.defined()) {
    invariants.push_back(at::matmul(vectors, vectors.transpose(1, 2)).flatten(1));
  }
  Tensor h = (*in_)(at::cat(invariants, 1));
  for (const auto& block : blocks_) {
    h = (*block)(h, shells, points.graphs);
  }
  h = weyl::normalise_layer(h);

  const Tensor pull =
      (*pull_)(at::cat({of(h, pairs.centre), of(h, pairs.neighbour), shells}, 1));  // (P, outputs)
  Tensor y =
      weyl::segment_sum(pull.unsqueeze(2) * line.unsqueeze(1), pairs.of_centre) / interface.typical_nodes;
  if (vectors.defined()) {
    y = y + at::matmul((*turn_)(h).view({n, outputs_, vectors.size(1)}), vectors);  // (N, outputs, D)
  }
  weyl::Named outputs;
  int64_t first = 0;
  for (const auto& q : interface.outputs) {
    outputs[q.name] = y.narrow(1, first, q.channels);
    first += q.channels;
  }
  return outputs;
}

weyl::Symmetry Skeleton::symmetry() const {
  using weyl::Claim;
  return {{{Claim::Of::rotoreflections, "O(" + std::to_string(interface.dimension) + ")", nullptr},
           {Claim::Of::translations, "translations", nullptr},
           {Claim::Of::permutations, "permutations", nullptr}},
          {}};
}

weyl::Work Skeleton::work(double nodes) const {
  const auto width = static_cast<double>(options.width), outputs = static_cast<double>(outputs_);
  const double pair = 2 * width * (2 * width + static_cast<double>(options.shells) + outputs);
  return {2 * width * static_cast<double>(inputs_ + outputs_ * columns_.vector_count()) +
          static_cast<double>(options.blocks) * DistanceBlock::flops(options, nodes) + nodes * pair};
}

}  // namespace skeleton
