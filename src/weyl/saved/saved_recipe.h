#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/carriers/frame_state.h"
#include "weyl/models/options.h"
#include "weyl/tasks/options.h"

namespace weyl {

/// The recipe of a model file as whoever uses the model reads it: its options and its task's, and the little of data
/// and training that predictions need. The whole stays as text, for those who open data or train (train/recipe.h).
struct SavedRecipe {
  TaskOptions task;
  ModelOptions model;
  std::vector<FrameState> states;  // data.molecules.states
  int64_t batch = 32;              // train.batch
  std::string text;                // the resolved config, as TOML
};

/// Reads the recipe of a file, with the systems that a program knows. DataError naming `where`: what it reads breaks a
/// rule of its options.
SavedRecipe read_saved_recipe(std::string text, const std::string& where, const ModelOptions& known = {});

/// The names of the classes that a model tells apart, by number: as its task has them, else as the data had that it was
/// trained on; empty: not known.
std::vector<std::string> names_of_classes(const TaskOptions& task, const std::vector<std::string>& of_data);

}  // namespace weyl
