#pragma once

#include <string>
#include <utility>
#include <vector>

#include "weyl/saved/evaluate.h"

namespace weyl {

/// What is measured at each step of a rollout is named `mse` at the first and `mse_step_2`, `mse_step_3`, ... at the later
/// ones (tasks/motion_errors.h). The metrics without those of later steps.
Metrics of_first_step(const Metrics& metrics);

/// For people: a table for each metric that has later steps, of the model and of simple answers beside it, at up to twelve
/// steps, evenly taken, the first and the last among them; empty where there is one step.
std::string rollout_text(const Metrics& model,
                         const std::vector<std::pair<std::string, Metrics>>& beside = {});

}  // namespace weyl
