#pragma once

#include <string>
#include <vector>

#include "weyl/train/loop/checkpoint.h"
#include "weyl/train/train.h"

namespace weyl {

/// What a training needs before it may write anything.
struct Prepared {
  Recipe recipe;     // as resolved
  SavedModel saved;  // whose recipe keeps what a model file keeps
  Splits data;
  std::vector<LabelCount> labels;          // of the training split
  std::string taken;                       // what the model starts with, and which of it is frozen
  std::vector<std::string> notes;          // what the user should know, a line each
  std::vector<std::string> likely_faults;  // what is likely wrong, a line each
};

/// Where the files that a recipe names are.
struct RecipeFiles {
  DataOptions data;
  TaskOptions task;
  std::string from;  // the model of train.from, for a new run; empty: none
};

/// Opens the data (`request.data`, else those of `files`), fits the task, and builds the model from train.seed.
/// `resumed`: the checkpoint that a run continues from, whose task is loaded in place of the fit; null for a new run.
/// The observer is told when the data are open. Splits that contradict one another are among the likely faults.
///
/// ConfigError, DataError: see the parts; also no training samples, labels that are missing or that are features, an
/// option of the model that does not fit, a model of train.from that does not fit.
Prepared prepare(const Recipe& recipe, const TrainRequest& request, const RecipeFiles& files,
                 const Resumed* resumed);

/// The systems of a request: its own or, if it has none, those that come with weyl.
const Systems& systems_of(const TrainRequest& request);

}  // namespace weyl
