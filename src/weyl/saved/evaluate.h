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
  std::optional<Confusion> confusion;  // of tasks with classes
  std::vector<Breakdown> breakdowns;   // of parts of the data, where the task knows some
  bool stopped = false;                // by options.stop: metrics of the samples so far
};

/// A model's metrics on a data set (see each_batch). The model is in evaluation mode meanwhile, its weights without
/// gradients, and gets both back. No gradients (a task that predicts gradients switches them on itself). DataError: the data set is empty, or
/// task or model refuse a sample (a ShapeError), which is named.
Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const BatchOptions& options = {});

/// How many rows of a label there are, of how many.
struct LabelCount {
  Quantity label;  // as the data have it
  int64_t known = 0, all = 0;
};

/// How many labels of each kind a task will find: rows without NaN (of categories of graphs and grids: all of
/// them, without reading any). `what` names the data in messages. DataError: a label is absent; ConfigError:
/// all of it is missing.
std::vector<LabelCount> count_labels(const Task& task, const Dataset& data,
                                     const std::string& what = "training data");

}  // namespace weyl
