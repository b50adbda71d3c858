#pragma once

#include <string>
#include <vector>

#include "weyl/train/checkpoint.h"
#include "weyl/train/train.h"

namespace weyl {

/// What a training needs before it may write anything.
struct Prepared {
  Recipe recipe;     // as resolved
  SavedModel saved;  // which keeps of it what a model file does
  Splits data;
  std::vector<LabelCount> labels;   // of the training split
  std::string taken;                // what it starts with, and what of it stays as it is
  std::vector<std::string> notes;   // what the user should know, a line each
  std::vector<std::string> doubts;  // what is likely wrong, a line each
};

/// Where the files that a recipe names are.
struct RecipeFiles {
  DataOptions data;
  TaskOptions task;
  std::string from;  // the model of train.from, of a run that begins; empty: none
};

/// Opens the data (`request.data`, else those of `files`), fits the task or loads it from the checkpoint that a run goes
/// on from (`resumed`; null of a run that begins), and builds the model from train.seed. The observer hears of the data, and of
/// splits that contradict one another.
/// ConfigError, DataError as of its parts: no training samples, labels that are missing or are features, an option
/// of the model that does not fit, a model of train.from that does not.
Prepared prepare(const Recipe& recipe, const TrainRequest& request, const RecipeFiles& files,
                 const Resumed* resumed);

/// The systems of a request: its own, else those that come with weyl.
const Systems& systems_of(const TrainRequest& request);

}  // namespace weyl
