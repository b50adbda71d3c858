#pragma once

#include <memory>
#include <optional>

#include "weyl/saved/each_batch.h"
#include "weyl/tasks/task.h"

namespace weyl {

struct Evaluation {
  int64_t samples = 0;
  double seconds = 0;
  Metrics metrics;
  std::optional<Confusion> confusion;  // for tasks with classes
  std::vector<Breakdown> breakdowns;   // by parts of the data, where the task knows such
  bool stopped = false;                // by options.stop: metrics of the samples so far
};

/// A model's metrics on a data set (see each_batch). Meanwhile the model is in evaluation mode and its weights have no
/// gradients; both are restored. Nothing is recorded for gradients (a task that predicts gradients switches them on
/// itself). DataError: the data set is empty, or task or model refuse a sample (a ShapeError), which is named.
Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const BatchOptions& options = {});

/// How many rows of a label are known, of how many in all.
struct LabelCount {
  Quantity label;  // as the data have it
  int64_t known = 0, all = 0;
};

/// Counts the labels that a task will find, for each label: the rows without NaN. For categories of graphs and grids
/// that is every row, and none is read. `what` names the data in messages. DataError: a label is absent. ConfigError:
/// all values of a label are missing.
std::vector<LabelCount> count_labels(const Task& task, const Dataset& data,
                                     const std::string& what = "training data");

}  // namespace weyl
