#pragma once

#include "weyl/predict/subject.h"

namespace weyl {

/// Cells along each axis of a grid when there are no data to tell: the config's [bench] shape, else as many
/// as a square or a cube of typical_nodes cells has.
std::vector<int64_t> shape_of_grids(const Subject& subject);

/// Samples of a set of grids as one batch: where the recipe crops or cuts windows, the middle of each as
/// large as those; where sizes differ, that of the smallest.
Batch middle_parts(const Subject& subject, const Dataset& data, std::span<const int64_t> samples);

}  // namespace weyl
