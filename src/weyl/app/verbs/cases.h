#pragma once

#include <string>
#include <vector>

#include "weyl/saved/predictor.h"

namespace weyl {

/// One sample as it was measured by itself.
struct Case {
  std::string name;  // case_name (data/base/sample_checks.h), visible; the number of a sample that has none
  std::string run;   // whose model measured it; of one model empty
  Metrics metrics;
};

/// The samples of a set with what `evaluate` says of each (Evaluation::by_sample).
std::vector<Case> cases_of(const Dataset& data, const Evaluation& evaluation, const std::string& run = "");

/// A CSV table of cases, a row each in their order: `case`, `run` where there is one, and a column for each metric, named with its
/// unit. Numbers read back to the same doubles. An empty cell is a metric that the case does not have; a Hausdorff distance
/// where one of both masks alone is empty is `inf`, and so is a mean over classes with such a one.
std::string cases_csv(const std::vector<Case>& cases);

/// The worst, the median and the best of a set's cases by a metric: sample numbers, those of different names alone different.
/// Fewer where there are fewer cases that have the metric.
struct Ranked {
  std::string name;  // worst, median, best
  int64_t sample = 0;
};
std::vector<Ranked> ranked(const std::vector<Case>& cases, const std::string& metric, bool lower_is_better);

/// Draws FOLDER/worst.png, median.png and best.png of a segmentation, by its headline metric; nothing for other tasks. `name` ends
/// their titles. Returns the files. DataError: gnuplot is missing or cannot draw.
std::vector<std::string> draw_ranked(const Predictor& predictor, const Dataset& data,
                                     const std::vector<Case>& cases, const std::string& name,
                                     const std::string& folder);

}  // namespace weyl
