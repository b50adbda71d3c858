#pragma once

#include <string>
#include <vector>

namespace weyl {

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
