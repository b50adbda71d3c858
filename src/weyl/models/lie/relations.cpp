#include "weyl/models/lie/relations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/argsort.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <utility>

#include "weyl/ops/edges/edges.h"

namespace weyl::lie {
namespace {

constexpr int64_t long_graph = 128;  // from here on numbers of pairs cost more than making them in each layer

/// squares (P, K) less the least of each token's row, block by block: no softmax over the row notices, and
/// what decides it, differences between near tokens of nearly the same square, is then still there when
/// rounded.
Tensor above_least(const Tensor& squares, const Tensor& present, const Segments& graphs) {
  const Edges pairs = all_pairs(graphs);
  const Tensor lengths = pairs.of_centre.sizes_on_device();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor seen = squares.detach().t().masked_fill(at::logical_not(present), infinity).t();
  Tensor least = at::segment_reduce(seen, "min", lengths, {}, {}, 0, /*unsafe=*/true, infinity);
  least = least.masked_fill(least == infinity, 0);
  return squares - least.index_select(0, pairs.centre);
}

/// The graphs for which `take` holds: their sizes, and the rows of their tokens (undefined when all are taken).
template <class F>
Part part_of(const Tensor& elements, const Segments& graphs, const F& take) {
  std::vector<int64_t> sizes;
  std::vector<Tensor> rows;
  for (int64_t s = 0; s < graphs.count(); ++s) {
    if (take(graphs.size(s))) {
      sizes.push_back(graphs.size(s));
      rows.push_back(at::arange(graphs.offsets[s], graphs.offsets[s + 1], at::kLong));
    }
  }
  const at::Device device = elements.device();
  if (static_cast<int64_t>(sizes.size()) == graphs.count()) {
    return {graphs, {}, elements, {}};
  }
  const Tensor taken =
      rows.empty() ? at::zeros({0}, elements.options().dtype(at::kLong)) : at::cat(rows).to(device);
  return {Segments::of_sizes(sizes, device), taken, elements.index_select(0, taken), {}};
}

void add_pairs(Part& part, LieGroup group, ChartPolicy chart, bool by_squares, at::ScalarType dtype) {
  Pairs pairs = pairs_between(part.elements, part.graphs, group, chart);
  pairs.coordinates = pairs.coordinates.to(dtype);
  if (by_squares) {
    pairs.squares = above_least(pairs.squares, pairs.present, part.graphs).to(dtype);
  }
  part.pairs = std::move(pairs);
}

}  // namespace

Tensor in_order(const Relations& relations, const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : at::cat(parts).index_select(0, relations.places);
}

Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 bool by_squares, at::ScalarType dtype) {
  Relations relations{group, chart, {}, {}};
  const auto is_short = [&](int64_t size) { return !by_squares || size <= long_graph; };
  Part of_short = part_of(elements, graphs, is_short);
  if (!of_short.rows.defined()) {
    add_pairs(of_short, group, chart, by_squares, dtype);
    relations.parts.push_back(std::move(of_short));
    return relations;
  }
  Part of_long = part_of(elements, graphs, [&](int64_t size) { return !is_short(size); });
  if (!of_long.rows.defined()) {
    relations.parts.push_back(std::move(of_long));
    return relations;
  }
  // A pair outside the chart is named by its graph in the batch, so not by pairs_between.
  add_pairs(of_short, group, chart == ChartPolicy::error ? ChartPolicy::mask : chart, by_squares, dtype);
  if (chart == ChartPolicy::error) {
    const Tensor outside = at::zeros({graphs.rows()}, of_short.pairs->outside.options());
    require_inside("lie_pairs", outside.index_copy(0, of_short.rows, of_short.pairs->outside), graphs, group);
  }
  relations.places = at::argsort(at::cat({of_short.rows, of_long.rows}));
  relations.parts.push_back(std::move(of_short));
  relations.parts.push_back(std::move(of_long));
  return relations;
}

}  // namespace weyl::lie
