#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weyl/study/sweep/options.h"
#include "weyl/train/recipe.h"

namespace weyl {

/// One training of a sweep: a process and a run folder.
struct SweepTrial {
  std::string id;  // its folder's name: "gatr-w8b2-1e+10-seed0-rate0.001"
  double rate = 0;
};

/// One line of the table: a model at a budget with a seed. Of its trials, which differ by the learning rate, the one
/// with the best validation counts.
struct SweepRow {
  size_t model = 0;  // of SweepRuns::models
  double budget = 0;
  int64_t seed = 0;
  std::vector<SweepTrial> trials;
};

/// One model of a system: its config and what is changed in it.
struct SweepModel {
  std::string system, size, config;
  std::vector<std::string> overrides;
  Recipe recipe;
};

/// A sweep in full: rows by budget, then system, size and seed.
struct SweepRuns {
  SweepOptions options;
  std::vector<SweepModel> models;
  std::vector<SweepRow> rows;
};

/// The runs of a sweep, with the recipe of each model read. `known`: the systems that configs may be of. ConfigError:
/// what a config or an override of it has wrong, after the model that it is for; models whose data or task differ
/// (require_one_task); two points of a system that are the same model at a budget; two trials of one name.
SweepRuns runs_of(SweepOptions options, const ModelOptions& known);

/// All overrides of a trial's config: those of its model, and its budget, rate, seed and validations, which are spread
/// evenly over the run. `flops_a_token`: nominal ones of its model; `tokens`: of the training set.
std::vector<std::string> overrides_of(const SweepRuns& runs, const SweepRow& row, const SweepTrial& trial,
                                      double flops_a_token, double tokens);

}  // namespace weyl
