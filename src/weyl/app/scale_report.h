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

/// A data scaling (scale_figures.h): amounts of data, and of each system the mean of its runs, the least and the most of
/// them. Nothing where there is none.
std::string html_data_scaling(const std::vector<ScalingRun>& runs);

/// Trainings of one config: what each was asked beside it, "ID: weyl train ...".
struct KeptRecipe {
  std::string config;
  std::vector<std::string> trainings;
};

/// A folder of a sweep as it was found: the file that asked for it (sweep.toml), its recipes (runs/ID.recipe), the
/// machines that its runs name (environment.json of each), the rows of its table.
struct SweepRecord {
  std::string sweep;                               // empty: none
  std::vector<KeptRecipe> recipes;                 // in the order of their first trainings' names
  std::vector<std::vector<std::string>> machines;  // a header and rows; empty: not known
  std::vector<std::vector<std::string>> rows;      // of runs.csv, its header first
};
/// DataError: the table cannot be read.
SweepRecord read_sweep_record(const std::string& runs_csv);

}  // namespace weyl
