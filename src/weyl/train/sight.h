#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/task.h"
#include "weyl/train/checkpoint.h"

namespace weyl {

/// What the outputs of a model change with, whatever it may learn.
struct Sight {
  struct Output {
    std::string name;        // "energy", "prediction.forces"
    bool predicted = false;  // by the task, from the model's outputs
    bool places = false;     // changes when positions, poses or the values of a grid do
    bool anything = false;   // changes with them or with a feature
  };
  std::vector<Output> outputs;
  std::string places;              // what was moved: "positions", "poses", "values"; empty: nothing could be
  bool neighbours = false;         // some node had another within the cut-off; true where a model has none
  std::vector<std::string> blind;  // what changes no output of the model: "types", "feature 'charge'"
};

/// Changes samples (sight_changes.h), one thing at a time, and looks which outputs of the model and, with a task, which
/// predictions change by more than rounding, in evaluation mode. Outputs that have a place are taken relative to that
/// of their node or graph, which they follow whatever the model does; categories, which jump, are left out. The model
/// must be of float64, and have weights that no output is constant with by chance (`draw_zeros`). Samples that the
/// model refuses, changed or not, tell nothing. A pure function of its arguments.
Sight sight_of(Model& model, const Task* task, const Input& samples, uint64_t seed);

/// Draws trainable weights that are all zero from N(0, 1 / columns) (vectors: N(0, 0.3^2)), and leaves the model in
/// evaluation mode: layers that start as nothing show what they will see.
void draw_zeros(Model& model, uint64_t seed);

/// Looks at a copy of a model that is about to be trained on these samples, a few of them, in float64 on the CPU. The
/// model itself, its task and the random generators are as before. ConfigError, one line that names the option
/// responsible: no output changes with the positions (poses, values), or one changes with nothing at all. The other
/// lines, for the user: outputs that do not see positions, predictions that are constant, features that change nothing, and what
/// note_on_alike_nodes says.
std::vector<std::string> check_sight(const SavedModel& saved, const TrainOptions& options,
                                     const Dataset& train, const Systems& systems);

}  // namespace weyl
