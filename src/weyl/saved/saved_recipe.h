#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/carriers/frame_state.h"
#include "weyl/models/options.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// The part of a model file's recipe that users of the model need: the options of model and task, and the little of
/// data and training that predictions depend on. The whole recipe stays as text, for those who open data or train
/// (train/recipe.h).
struct SavedRecipe {
  TaskOptions task;
  ModelOptions model;
  std::vector<FrameState> states;  // data.molecules.states
  int64_t batch = 32;              // train.batch
  std::string text;                // the resolved config, as TOML
};

/// Reads the recipe of a file, with the systems that a program knows. DataError naming `where`: an option that is read
/// breaks a rule.
SavedRecipe read_saved_recipe(std::string text, const std::string& where, const ModelOptions& known = {});

/// The names of the classes that a model tells apart, by number: the task's, else those of the data that it was trained
/// on. Empty: not known.
std::vector<std::string> names_of_classes(const TaskOptions& task, const std::vector<std::string>& of_data);

}  // namespace weyl
