#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/study/scaling/study.h"

namespace weyl {

/// Fits and runs that are to be drawn and told together.
struct ScaleInputs {
  ScalingStudy study;                 // systems and ratios of all fits
  std::vector<RunTable> tables;       // of the CSV files
  std::vector<std::string> unfitted;  // systems of the tables that have no law
  std::vector<std::string> notes;
  bool fitted = false;  // here, none of the inputs being a fit

  std::vector<ScalingRun> runs() const;
};

/// Reads tables of runs (FILE.csv, or a folder that has runs.csv) and fits (FILE.json, what `scale fit --out` wrote). Where no
/// fit is given each table is fitted, with hold-out and so many resamples (10,000 when nothing is said); one that
/// cannot be fitted, or whose systems an earlier one has, stays a table and is noted. ConfigError: a system stands in two fits, and
/// resamples where there is nothing to fit. DataError: as read_runs and read_study.
ScaleInputs read_scale_inputs(const std::vector<std::string>& paths, std::optional<int64_t> bootstraps,
                              int64_t threads);

/// The file that a folder stands for: DIR/runs.csv.
std::string runs_file(const std::string& path);

}  // namespace weyl
