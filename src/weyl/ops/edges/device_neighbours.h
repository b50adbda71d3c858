#pragma once

#include "weyl/ops/edges/edges.h"

namespace weyl {

/// Up to where a search compares more than it must to need less: tests choose other numbers.
struct DeviceSearchLimits {
  int64_t pairs = 1 << 21;  // ordered pairs of an open batch: all are compared, 40 bytes each
  int64_t few_pairs =
      1 << 19;  // of a periodic batch: cells are brought to the host before anything is sorted
  int64_t images =
      1 << 24;  // ordered pairs with all images in reach, compared without cells to sort atoms into
  int64_t at_once = 1 << 22;  // pairs compared at a time: what that takes is 300 bytes each
};

/// `neighbours` by torch expressions on the device of positions: the same edges, in the same order, decided by the same
/// sums in float64. Arguments are those of `neighbours`, checked. The host waits for the device
///   once in an open batch of few pairs: for the number of edges of each node;
///   twice in cells: before that for what there is to know of each graph (cells, boxes that hold its atoms, whether
///     positions are finite) and how many pairs of atoms stand in neighbouring cells;
///   thrice where a periodic batch has many atoms and a cell that is thinner than the cutoff or very skewed, and pairs
///     must be counted anew in a better basis.
Edges device_neighbours(const Tensor& positions, const Segments& graphs, double cutoff, const Tensor& cell,
                        const Tensor& pbc, bool self, const DeviceSearchLimits& limits = {});

}  // namespace weyl
