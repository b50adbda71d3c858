#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/app/draw/plot.h"
#include "weyl/app/draw/table.h"

namespace weyl {

/// What a run's files say of it: nothing is run. What they do not say is absent.
struct ComparedRun {
  std::string path, name;  // name: of the folder
  std::string system;
  int64_t parameters = 0, parameters_real = 0;
  std::optional<double> seconds;  // of training
  /// Of training: as result.json has them, or, where there is none of the last step, by the tokens that were seen
  /// (ModelSummary::flops_train).
  std::optional<double> flops;
  std::optional<double> nominal_flops;  // likewise, as scaling laws count (ModelSummary::flops_nominal)
  std::map<std::string, std::pair<double, std::string>> metrics;  // of `split`: value, unit
  std::string headline;                                           // the metric that picked the best model
  std::string config;                                             // as resolved, but for train.seed
  std::string trained_on;  // what tells its training data from others; empty: not known
  int64_t seed = 0;        // train.seed
  std::string data;        // what tells the data of `split` from others; empty: not known
  struct Point {
    double step = 0;
    std::optional<double> seconds, flops;
    std::map<std::string, double> metrics;  // of the validation, and `loss`, of the training
  };
  std::vector<Point> curve;
  std::vector<std::string> notes;
};

/// Runs that differ by train.seed alone, as places in Comparison::runs: one row of the table.
struct SeedGroup {
  std::string name;  // of the run; of several "et-seed*", or all of their names
  std::vector<size_t> runs;
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<SeedGroup> rows;  // in the order of their first runs
  std::string split =
      "test";  // whose metrics are compared; valid: not every run has a result of a test split
  bool same_test_data = false;  // all were measured on the same samples of `split`, on the same labels
  std::vector<std::string> notes;
};

/// DataError: a path is no run folder, has no checkpoint, or a file of it is damaged.
Comparison compared(const std::vector<std::string>& runs);

/// Systems, sizes, costs and metrics, a row for each of `rows`: of several runs means and their standard deviation. The
/// metrics are the first `most` of shown_metrics; none of runs on other test data.
Table comparison_table(const Comparison& comparison, size_t most);

/// Learning curves over steps, seconds and FLOPs: of the first run's headline where every run has it in the same unit,
/// else of the first metric of which that is so, else of the training loss.
Panels learning_curves(const Comparison& comparison);

}  // namespace weyl
