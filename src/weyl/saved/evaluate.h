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
  std::vector<Metrics> by_sample;      // of each sample alone, where they are asked for
  std::shared_ptr<const Meter> meter;  // that has seen all samples, to be merged with those of other data
};

/// A model's metrics on a data set (see each_batch). Meanwhile the model is in evaluation mode and its weights have no
/// gradients; both are restored. Nothing is recorded for gradients (a task that predicts gradients switches them on
/// itself). With options.by_sample samples go one by one. With options.ranks each has a part of the data, and all get the same of
/// the whole: counts and what is kept sample by sample are those of one process, sums of real numbers to rounding. DataError: the data set is empty, or task or model refuse a sample (a ShapeError), which is named.
Evaluation evaluate(Model& model, const Task& task, std::shared_ptr<const Dataset> data,
                    const BatchOptions& options = {});

/// What the ranks' meters have seen, in their order, in one: the same on all of them. `own`: this rank's, of this task.
std::unique_ptr<Meter> of_all_ranks(Ranks& ranks, const Task& task, const Interface& model, Meter& own);

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

/// The labels of which data that are only measured have no value.
struct LabelsLacked {
  std::optional<Quantity>
      needed;                    // the first without which the task does not measure (Task::measures_without)
  std::vector<Quantity> others;  // where all that are needed are there
};
/// Labels that some samples have and others lack are there. DataError: a label is of another kind, or left out.
LabelsLacked labels_lacked(const Task& task, const Dataset& data, const std::string& what);

/// The `others`; a label that is needed is refused as by count_labels.
std::vector<Quantity> labels_to_measure_without(const Task& task, const Dataset& data,
                                                const std::string& what);

/// The same where some metric is not defined, without which no label is read again.
std::vector<Quantity> labels_without_metrics(const Metrics& metrics, const Task& task, const Dataset& data,
                                             const std::string& what);

/// Takes out the metrics of such labels that are not defined: force_mae, direct_force_rmse, ... of `forces`.
void leave_out(Metrics& metrics, const std::vector<Quantity>& labels);

/// What a user should know of one of them; where the data do not have it, also what else is in their files.
std::string measured_without(const Quantity& label, const Schema& data, const std::string& what);

}  // namespace weyl
