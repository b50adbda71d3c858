#pragma once

#include "weyl/carriers/dataset.h"
#include "weyl/data/options.h"

namespace weyl {

/// Stars with planets as points: positions (N, 3), scalar mass, vector velocity, float64; label displacement (N, 1, 3),
/// from one time to the other; horizon the time between the two, 0.1 unless the files say otherwise.
Schema planets_schema(const PlanetsDataOptions& options);

/// A folder of tensor files that `weyl data make planets` wrote (open_tensor_splits). DataError also: files whose
/// systems were followed for different times.
Splits open_planets(const PlanetsDataOptions& options);

}  // namespace weyl
