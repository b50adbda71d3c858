#include "weyl/models/geomformer/embedding.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/zeros.h>

#include "weyl/models/geomformer/block.h"
#include "weyl/ops/edges/edge_sums.h"
#include "weyl/ops/segment.h"

namespace weyl::geomformer {
namespace {

/// 1 for edges between different nodes or images, 0 for a node and itself, in the dtype of the lengths.
Tensor others(const Neighbourhood& near) {
  Tensor other = near.edges.centre != near.edges.neighbour;
  if (near.edges.shifts.defined()) {
    other = other.logical_or((near.edges.shifts != 0).any(1));
  }
  return other.to(near.lengths.scalar_type());
}

/// r (R, 3) -> lengths sqrt(r^2 + s^2) - s and directions r / sqrt(r^2 + s^2), smooth at r = 0.
Polar smoothed(const Tensor& r, double s) {
  if (s == 0) {
    return polar(r);
  }
  const Tensor length = at::sqrt((r * r).sum(1) + s * s);
  return {length - s, r / length.unsqueeze(1)};
}

}  // namespace

Tensor Embedding::Radial::operator()(const Tensor& lengths, const Tensor& types) const {
  return (*map)((*gaussian)(lengths, types));
}

Embedding::Radial Embedding::radial(const std::string& name) {
  return {child(name + ".gaussian",
                std::make_shared<GaussianBasis>(options_.width, types_, options_.least_width)),
          child(name + ".map",
                std::make_shared<Linear>(options_.width, options_.width, /*bias=*/false, options_.init))};
}

Embedding::Embedding(const Options& options, const Interface& interface, bool positions, bool features)
    : options_(options), types_(std::max<int64_t>(interface.types, 1)) {
  const int64_t d = options.width;
  const InputColumns columns = input_columns(interface, "geomformer", /*reads_pairs=*/true);
  embedding_ = parameter("embedding.weight", {types_, d}, Init::normal(1));
  const int64_t scalars = columns.scalar_count() - columns.types;
  if (scalars > 0) {
    features_ = child("features", std::make_shared<Linear>(scalars, d, true, options.init));
  }
  if (options.pair_embedding) {
    pairs_ = child("pairs", std::make_shared<Linear>(options.kernels, d, true, options.init));
  }
  if (options.neighbour_embedding) {
    neighbour_embedding_ = parameter("neighbours.embedding.weight", {types_, d}, Init::normal(1));
    neighbour_filter_ = child("neighbours.distance_proj",
                              std::make_shared<Linear>(options.kernels, d, true, LinearInit::xavier));
    combine_ = child("neighbours.combine", std::make_shared<Linear>(2 * d, d, true, LinearInit::xavier));
  }
  if (positions && uses_centroid(options.input)) {
    position_ = radial("position");
  }
  if (positions && uses_neighbours(options.input)) {
    local_ = radial("local");
  }
  vectors_ = features ? columns.vector_count() : 0;
  for (int64_t v = 0; v < vectors_; ++v) {
    of_vectors_.push_back(radial("vector_" + std::to_string(v)));
  }
}

Tensor Embedding::embedded(const Points& points, const Neighbourhood& near) const {
  const bool typed = points.types.defined();
  const auto rows = [&](const Tensor& table) {
    return typed ? table.index_select(0, points.types) : table.expand({points.nodes(), -1});
  };
  Tensor inv = rows(embedding_);
  if (neighbour_filter_) {
    const auto f = [width = options_.width, filter = neighbour_filter_, of_basis = near.basis_rows](
                       const Tensors& in, const Edges& edges) {
      EdgeSums sums;
      sums.channels = width;
      sums.inputs = {{EdgeRows::neighbour}, {of_basis}, {EdgeRows::edge, EdgeWidth::one}};
      sums.outputs = {{EdgeRows::centre}};
      sums.terms = {{{{0}, {1}, {2}}, {0}}};
      return edge_sums(sums, {in[0], (*filter)(in[1]), in[2]}, edges);
    };
    const Tensor gathered = near.in_blocks(
        f, {{BlockRows::node, near.block_rows(), BlockRows::edge}, {BlockRows::node}},
        {rows(neighbour_embedding_).contiguous(), near.basis, near.envelope * others(near)})[0];
    inv = (*combine_)(at::cat({inv, gathered}, -1));
  }
  if (pairs_) {
    const auto f = [of_basis = near.basis_rows](const Tensors& in, const Edges& edges) {
      const Tensor basis = of_edges(in[0], of_basis, edges);
      return Tensors{segment_sum(in[1].defined() ? basis * in[1].unsqueeze(1) : basis, edges.of_centre)};
    };
    inv = inv + (*pairs_)(near.in_blocks(f, {{near.block_rows(), BlockRows::edge}, {BlockRows::node}},
                                         {near.basis, near.envelope})[0]);
  }
  return inv;
}

Tensor Embedding::from_centroid(const Points& points, const Interface& interface, const Tensor& types) const {
  const Polar away = smoothed(centred_positions(points, interface), options_.smoothing);
  return away.direction.unsqueeze(2) * position_(away.length, types).unsqueeze(1);
}

Tensor Embedding::from_neighbours(const Neighbourhood& near, const Tensor& types) const {
  const auto f = [width = options_.width, smoothing = options_.smoothing, gaussian = local_.gaussian,
                  dtype = near.lengths.scalar_type()](const Tensors& in, const Edges& edges) {
    const Tensor &apart = in[0], &envelope = in[1], &kind = in[2];
    EdgeSums sums;
    sums.channels = width;
    sums.inputs = {{EdgeRows::edge}, {EdgeRows::edge, EdgeWidth::one, true}};
    sums.outputs = {{EdgeRows::centre, EdgeWidth::channels, true}};
    sums.terms = {{{{0}, {1}}, {0}}};
    const Tensor of_neighbours = kind.index_select(0, edges.neighbour);
    const Polar wide = smoothed(apart, smoothing);
    const Tensor lengths = wide.length.to(dtype), unit = wide.direction.to(dtype);
    const Tensor directions = envelope.defined() ? unit * envelope.unsqueeze(1) : unit;
    return edge_sums(sums, {(*gaussian)(lengths, of_neighbours), directions}, edges);
  };
  // Mapped after the sum: there are more edges than axes of nodes.
  return (*local_.map)(
      near.in_blocks(f, {{BlockRows::edge, BlockRows::edge, BlockRows::node}, {BlockRows::node}},
                     {near.apart, near.envelope, types})[0]);
}

Tensor Embedding::of_features(const Points& points, const Interface& interface) const {
  if (!features_) {
    return {};
  }
  // Types come from a table here, not as one-hot columns.
  const Tensor scalars = input_values(points, interface).scalars;
  return (*features_)(scalars.narrow(1, interface.types, scalars.size(1) - interface.types));
}

StreamAttention::Streams Embedding::operator()(const Points& points, const Interface& interface,
                                               const Neighbourhood& near) const {
  Tensor inv = embedded(points, near);
  if (features_) {
    inv = inv + of_features(points, interface);
  }
  const Tensor types =
      points.types.defined() ? points.types : at::zeros({points.nodes()}, near.edges.centre.options());
  Tensor equ;
  const auto add = [&](const Tensor& x) { equ = equ.defined() ? equ + x : x; };
  if (position_.map) {
    add(from_centroid(points, interface, types));
  }
  if (local_.map) {
    add(from_neighbours(near, types));
  }
  const Tensor vectors = vectors_ > 0 ? input_values(points, interface).vectors : Tensor();
  for (int64_t v = 0; v < vectors_; ++v) {
    const Polar found = polar(vectors.select(1, v));
    add(found.direction.unsqueeze(2) * of_vectors_[v](found.length, types).unsqueeze(1));
  }
  if (!equ.defined()) {
    equ = at::zeros({points.nodes(), 3, options_.width}, inv.options().requires_grad(false));
  }
  const double rate = training() ? options_.dropout.embedding : 0;
  return rate > 0 ? StreamAttention::Streams{at::dropout(inv, rate, /*train=*/true), drop_vectors(equ, rate)}
                  : StreamAttention::Streams{inv, equ};
}

Work Embedding::work(const Around& around) const {
  const auto width = static_cast<double>(options_.width), kernels = static_cast<double>(options_.kernels);
  const double radial = position_.map ? 1 + static_cast<double>(vectors_) : static_cast<double>(vectors_);
  Work work = Work::product(radial * width * width);
  if (features_) {
    work += Work::product(static_cast<double>(features_->weight().numel()), 1);
  }
  if (pairs_) {
    work += Work::product(kernels * width, around.basis_learns ? 2 : 1);
  }
  if (neighbour_filter_) {
    work += around.of_basis(kernels * width) + around.edges * Work::product(width) +
            Work::product(2 * width * width);
  }
  if (local_.map) {  // directions depend on no parameter
    work += Work::product(3 * width * width) + around.edges * Work::product(3 * width, 1);
  }
  return work;
}

}  // namespace weyl::geomformer
