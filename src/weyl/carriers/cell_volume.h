#pragma once

#include "weyl/carriers/points.h"

namespace weyl {

/// Volumes (B) float64 of the cells, |det cell|, of graphs that repeat along all three lattice vectors (all
/// that have a cell where `pbc` is absent); 0 of others.
Tensor cell_volumes(const Points& points);

}  // namespace weyl
