#pragma once

#include <string>
#include <vector>

#include "weyl/app/scale_inputs.h"

namespace weyl {

/// A study as tables in HTML: laws with intervals, what follows at budgets, isoflops, the test on the largest budget,
/// ratios. No table where there is nothing to tell.
std::string html_of(const ScalingStudy& study);

/// What each system came to at each budget, whether a law was fitted or not: the size of the lowest mean loss, and what
/// its runs differ by. Nothing of runs that say no budget.
std::string html_losses(const std::vector<ScalingRun>& runs);

/// A folder of a sweep as it was found: the file that asked for it (sweep.toml), the machines that its runs name (environment.json
/// of each), the rows of its table.
struct SweepRecord {
  std::string sweep;                               // empty: none
  std::vector<std::vector<std::string>> machines;  // a header and rows; empty: not known
  std::vector<std::vector<std::string>> rows;      // of runs.csv, its header first
};
/// DataError: the table cannot be read.
SweepRecord read_sweep_record(const std::string& runs_csv);

}  // namespace weyl
