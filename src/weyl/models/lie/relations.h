#pragma once

#include <optional>

#include "weyl/models/lie/options.h"
#include "weyl/ops/lie/attention.h"

namespace weyl::lie {

/// How the tokens of each graph stand to each other, none of it changed by g -> a g: their logarithms pair by
/// pair, for all layers, or, of very many pairs, only the elements that each layer takes them from.
struct Relations {
  LieGroup group = LieGroup::se3;
  ChartPolicy chart = ChartPolicy::mask;
  Tensor elements;             // (N, compact)
  std::optional<Pairs> pairs;  // squares counted from the least of their row, which scores do not notice
};

/// The relations of elements (N, compact) in float64, for layers in `dtype`: logarithms are made in float64 and rounded
/// once, since what they lose the network amplifies; streamed ones are made in `dtype`. `by_squares`:
/// scores are made of the squares (G); such layers can do without stored pairs, as they do when a graph of
/// the batch has more than 128 tokens. Without, squares are left as pairs_between makes them.
/// ShapeError under ChartPolicy::error when a pair lies outside the chart.
Relations relate(LieGroup group, const Tensor& elements, const Segments& graphs, ChartPolicy chart,
                 bool by_squares, at::ScalarType dtype);

}  // namespace weyl::lie
