#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// A line with the likely units where energies and forces seem to be of two systems of units, or their signs not to fit
/// (data/atoms/trajectory_work.h), before a training of task force_field that learns both; empty: nothing is known.
/// It is a guess from frames that follow one another: the training samples, or the whole file that they were drawn
/// from, in its order.
std::string doubt_about_forces(const Recipe& recipe, const Dataset& train);

}  // namespace weyl
