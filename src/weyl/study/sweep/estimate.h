#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "weyl/core/json.h"
#include "weyl/study/sweep/table.h"

namespace weyl {

/// What a model costs on this machine, while as many others train beside it as there will be.
struct ModelCost {
  ModelFacts facts;
  double epoch_tokens = 0;  // where there are no data: by their options and typical samples; 0: not known
  double real_flops_a_token = 0;  // of training, attention included
  double tokens_a_step = 0;
  double step_seconds = 0;   // of an optimiser step, the median; 0: not timed
  double valid_seconds = 0;  // of one validation
  double test_seconds = 0;   // of the test at the end
  double fixed_seconds = 0;  // of a run beside all these: start, data
  int64_t threads = 1;
  int64_t accumulate = 1;  // train.accumulate with which a step fits into memory, of batches so much smaller
  std::string how;         // what was timed, where that is no whole batch
  std::string evaluation;  // how validation and test were timed, where that is not by such data
  std::string metric;      // that picks the best model, and is the loss where the sweep names none
  Json evaluated;          // what the data hold (study/sweep/measure.h); null: not known
};

/// One row of a plan.
struct PlannedRow {
  double tokens = 0, steps = 0, flops = 0, flops_real = 0;  // of one trial
  std::optional<double> seconds;                            // of all its trials, one after the other
  bool repeats = false;                                     // sees samples more than once
  bool unvalidated = false;  // validations are in no seconds: it is not known after how many tokens they come
};

struct SweepPlan {
  std::vector<PlannedRow> rows;         // as those of the sweep
  std::vector<double> budget_seconds;   // of the runs of each budget, one after the other
  std::optional<double> total_seconds;  // with so many jobs side by side; nothing when not all was timed
};

/// `costs`: of each model.
SweepPlan plan_of(const SweepRuns& runs, const std::vector<ModelCost>& costs, int64_t jobs);

/// ConfigError for a sweep of unique samples with a run that needs more tokens than the data have.
void require_unique(const SweepRuns& runs, const std::vector<ModelFacts>& facts);

}  // namespace weyl
