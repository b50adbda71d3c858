#pragma once

#include "weyl/core/segments.h"

namespace weyl {

/// All ordered pairs of nodes of each graph, a node with itself included, in the order graph, first node,
/// second node: the P = sum n^2 rows of pair level.
struct Pairs {
  Tensor first, second;  // (P) int64, rows of nodes, on the graphs' device
  Segments of_first;     // the n pairs of each first node: segment_sum over them sums over second nodes
};
Pairs all_pairs(const Segments& graphs);

}  // namespace weyl
