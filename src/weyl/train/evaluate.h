#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "weyl/tasks/task.h"

namespace weyl {

struct EvaluateOptions {
  int64_t batch = 32;                     // samples at a time
  std::optional<int64_t> batch_tokens;    // instead: as many as fit
  std::function<bool()> stop;             // asked between batches
  std::function<void(int64_t)> progress;  // samples done
  std::string where = "data";             // what errors call the data set
};

struct Evaluation {
  int64_t samples = 0;
  double seconds = 0;
  Metrics metrics;
  std::optional<Confusion> confusion;  // of tasks with classes
  std::vector<Breakdown> breakdowns;   // of parts of the data, where the task knows some
  bool stopped = false;                // by options.stop: metrics of the samples so far
};

/// A model's metrics on a data set, batch by batch in the set's order, on the model's device (where the task
/// does not move inputs itself) and in its dtype; never holds more than a few batches. The model is in
/// evaluation mode meanwhile and gets its mode back. No gradients (a task that predicts gradients switches
/// them on itself). DataError: the data set is empty, or task or model refuse a sample (a ShapeError), which
/// is named.
Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const EvaluateOptions& options = {});

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
