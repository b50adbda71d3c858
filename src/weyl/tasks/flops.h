#pragma once

#include "weyl/models/model.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// Floating-point operations of a batch of so many tokens (models/work.h). Of what is learned through derivatives, as
/// forces are, about: six forward passes of training, and three of predicting.
double training_flops(const Model& model, const Task* task, double tokens);
double predicting_flops(const Model& model, const Task* task, double tokens);

}  // namespace weyl
