#include "weyl/models/lie/relations.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/segment_reduce.h>
#include <ATen/ops/tensor.h>

#include <limits>

#include "weyl/ops/edges/edges.h"

namespace weyl::lie {
namespace {

constexpr int64_t long_graph = 128;  // from here on numbers of pairs cost more than making them in each layer

/// squares (P, K) less the least of each token's row, block by block: no softmax over the row notices, and
/// what decides it, differences between near tokens of nearly the same square, is then still there when
/// rounded.
Tensor above_least(const Tensor& squares, const Tensor& present, const Segments& graphs) {
  const Edges pairs = all_pairs(graphs);
  const Tensor lengths = at::tensor(pairs.of_centre.sizes(), at::kLong).to(squares.device());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor seen = squares.detach().t().masked_fill(at::logical_not(present), infinity).t();
  Tensor least = at::segment_reduce(seen, "min", lengths, {}, {}, 0, /*unsafe=*/true, infinity);
  least = least.masked_fill(least == infinity, 0);
  return squares - least.index_select(0, pairs.centre);
}

}  // namespace

Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 bool by_squares, at::ScalarType dtype) {
  Relations relations{group, chart, elements.to(dtype), {}};
  if (!by_squares || graphs.longest() <= long_graph) {
    relations.pairs = pairs_between(elements, graphs, group, chart);
    relations.pairs->coordinates = relations.pairs->coordinates.to(dtype);
    if (by_squares) {
      relations.pairs->squares =
          above_least(relations.pairs->squares, relations.pairs->present, graphs).to(dtype);
    }
  }
  return relations;
}

}  // namespace weyl::lie
