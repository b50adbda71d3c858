#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weyl/study/sweep/runs.h"

namespace weyl {

/// ConfigError unless a folder is a sweep's (each run of which begins with runs/ID.recipe), or holds no more than what a start
/// writes before its first run, or nothing of these names: a table of others is not replaced, nor a sweep.toml that is not
/// `sweep`. DataError: a name of the sweep's stands for something else than a plain file or folder (core/own_folder.h).
/// Other shards may start at the same moment.
void require_sweep_folder(const std::string& folder, const SweepRuns& runs, const std::string& sweep);

/// FOLDER/runs/ID.recipe: what decides the numbers of a trial, written before it begins. First a line, the words of its
/// command, of which those from " --threads " on (threads, device, ranks) do not count; then its model's config in full.
std::string recipe_file_of(const std::string& folder, const SweepTrial& trial);

/// What two of them differ by first: a key of the config, "train.batch", or (empty) a word of the command.
struct RecipeDifference {
  std::string key;
  std::string before, now;  // as written; "[...]": a table; "[2 of them]": so many tables of a list

  std::string now_text() const;  // "train.batch = 17"
};

/// Nothing where there is none. A key that only one of them has is one of another version of weyl, and no difference.
std::optional<RecipeDifference> difference_of(const std::string& kept, const std::string& now);

/// ConfigError: the folder has a run folder of this trial, begun or done, by another recipe, or by none that is known.
void require_same_recipe(const std::string& folder, const SweepTrial& trial, const std::string& recipe);

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
