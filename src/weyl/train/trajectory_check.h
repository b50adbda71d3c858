#pragma once

#include "weyl/carriers/dataset.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// Refuses energies and forces that are not of one system of units, or whose signs do not fit, where frames follow
/// one another (data/atoms/trajectory_work.h): before a training of task force_field that learns both. The frames
/// are those of the training samples, or of the whole file that they were drawn from, in its order; of a set
/// without such frames nothing is known. DataError with the likely units.
void require_fitting_forces(const Recipe& recipe, const Dataset& train);

}  // namespace weyl
