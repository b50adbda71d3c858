#pragma once

#include <string>
#include <vector>

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

/// Checks, before a training, that the task takes what it will be measured on: a task that knows which elements it has been
/// trained on refuses others in every validation. DataError with the validation sample named; a line where it is a test sample, which
/// a training does not need; empty where there is none. Of large splits, samples evenly spread are looked at.
std::string check_measured(const SavedModel& saved, const Splits& data);

/// Warnings, before a training of task property, where the numbers of nodes that it holds to a total (task.property.held) have another
/// sum in a training sample, by more than 2 % of the root of the sum of their squares, which numbers of two digits keep: no prediction can meet such
/// labels. Of large splits, samples evenly spread are looked at, and of them those of whose nodes none lacks its number.
std::vector<std::string> warnings_about_held(const TaskOptions& task, const Dataset& train);

/// A warning, before a training on sequences with a missing pose (data set pose_sequences), where the model reads the order of
/// their tokens, which is drawn and says nothing. Empty: it does not.
std::string warning_about_order(const Model& model, const DataOptions& data);

/// Warnings, before a training of task force_field, about energies, forces and stresses that are likely of other units
/// than they are read in, or whose signs do not fit (data/atoms/unit_doubts.h). The lines have the likely units. They are
/// guesses from the first frames of the training samples, or of the whole file that those were drawn from, in its order.
std::vector<std::string> warnings_about_units(const Recipe& recipe, const Dataset& train);

}  // namespace weyl
