#pragma once

#include <optional>
#include <vector>

#include "weyl/models/lie/options.h"
#include "weyl/ops/lie/attention.h"

namespace weyl::lie {

/// How the tokens of some of the graphs stand to each other, none of it changed by g -> a g: their logarithms pair by
/// pair, for all layers, or, of very many pairs, only the elements that each layer takes them from.
struct Part {
  Segments graphs;
  Tensor rows;      // (n) int64: which tokens of the batch these are; undefined: all, in their order
  Tensor elements;  // (n, compact) float64
  std::optional<Pairs> pairs;  // squares counted from the least of their row, which scores do not notice
};

/// The graphs with pairs and those without, each where there are any.
struct Relations {
  LieGroup group = LieGroup::se3;
  ChartPolicy chart = ChartPolicy::mask;
  std::vector<Part> parts;
  Tensor
      places;  // (N) int64: where each token is among those of all parts; undefined: there is one part at most
};

/// Each token's rows of x, one tensor for each part, in the batch's order again.
Tensor in_order(const Relations& relations, const std::vector<Tensor>& parts);

/// The relations of elements (N, compact) in float64, for layers in `dtype`: logarithms are made in float64 and rounded
/// once, since what they lose the network amplifies. `by_squares`: scores are made of the squares (G); such layers can
/// do without stored pairs, as they do for graphs of more than 128 tokens. That is each graph's own affair: a
/// short one has the same bits beside a long one as alone. Without, squares are left as pairs_between makes them.
/// ShapeError under ChartPolicy::error when a stored pair lies outside the chart; of the others the layers say it.
Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 bool by_squares, at::ScalarType dtype);

}  // namespace weyl::lie
