#pragma once

#include <string>

#include "weyl/carriers/dataset.h"
#include "weyl/train/loop/checkpoint.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// Checks, before a training, the principal axes of samples where the model is run in them (model.frames;
/// models/framed_model.h). Returns a line that says how many samples of the training split have no axes to rely on;
/// empty where all have some, or the model has no frames. DataError, with the sample named, where the task
/// differentiates outputs with respect to positions and a sample of any split has no axes. Of large splits, samples
/// evenly spread are looked at.
std::string check_axes(const SavedModel& saved, const Splits& data);

/// Warns, before a training of task force_field that learns both, that energies and forces seem to be of two systems of
/// units, or that their signs do not fit (data/atoms/trajectory_work.h). The line has the likely units; empty: nothing
/// is known. It is a guess from frames that follow one another: the training samples, or the whole file that they were
/// drawn from, in its order.
std::string warning_about_forces(const Recipe& recipe, const Dataset& train);

}  // namespace weyl
