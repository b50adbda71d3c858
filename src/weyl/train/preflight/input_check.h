#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/dataset.h"
#include "weyl/carriers/quantity.h"
#include "weyl/models/options.h"
#include "weyl/models/systems.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/checkpoint.h"

namespace weyl {

/// A line for the user where a model sees no geometry in some training graphs though it does in others. The softmax
/// attention of a Platonic Transformer takes weighted means of values, which are all the same where nodes are alike,
/// unless something else tells where the nodes are. Looks at graphs whose nodes are not all in one place, of samples
/// from all over the set. Empty: there is no such graph, or the model is another.
std::string note_on_alike_nodes(const ModelOptions& model, const Interface& interface, const Dataset& train);

/// A warning where a model looks for empty tokens (model.steerable.encoder.skip_empty) and no training sample has one. Looks at
/// a few samples from all over the set, or at crops of them as training takes them. `model` is on the CPU. Empty: some token is
/// empty, or the model is another.
std::string note_on_empty_tokens(const Model& model, const TrainOptions& options, const Dataset& train);

/// What the outputs of a model can change with, whatever weights it learns.
struct InputCheck {
  struct Output {
    std::string name;        // "energy", "prediction.forces"
    bool predicted = false;  // whether the task makes it from the model's outputs
    bool places = false;     // changes when positions, poses or the values of a grid do
    bool anything = false;   // changes with them or with a feature
    double by_places = 0;    // how far they move it at most, relative to its largest number
  };
  std::vector<Output> outputs;
  std::string places;       // what was moved: "positions", "poses", "values"; empty: nothing could be
  bool neighbours = false;  // some node had another within the cut-off; true for models without a cut-off
  std::vector<std::string>
      without_effect;  // what changes no output of the model: "types", "feature 'charge'"
};

/// Changes samples (input_changes.h), one thing at a time, and finds which outputs of the model and, with a task, which
/// predictions change by more than rounding, in evaluation mode. Outputs with a place are taken relative to that of
/// their node or graph, which they follow in any model. Categories, which jump, are left out. The model must be of
/// float64 and must have weights with which no output is constant by chance (`draw_zeros`). Samples that the model
/// refuses, changed or not, tell nothing. A pure function of its arguments.
InputCheck input_check_of(Model& model, const Task* task, const Input& samples, uint64_t seed);

/// Draws trainable weights that are all zero from N(0, 1 / columns) (vectors: N(0, 0.3^2)), because layers that start
/// as zero would not show what they can see. Leaves the model in evaluation mode.
void draw_zeros(Model& model, uint64_t seed);

/// Checks what a model that is about to be trained can see: changes a few of the training samples and evaluates a copy
/// of the model, in float64 on the CPU. The model itself, its task and the random generators stay as they are.
///
/// ConfigError, one line that names the responsible option: no output changes with the positions (poses, values), or an
/// output changes with nothing at all. Returns lines for the user: outputs that do not see positions or move by
/// hardly more than float32 rounds, predictions that are constant, features that change nothing, and what note_on_alike_nodes says.
std::vector<std::string> check_input(const SavedModel& saved, const TrainOptions& options,
                                     const Dataset& train, const Systems& systems);

}  // namespace weyl
