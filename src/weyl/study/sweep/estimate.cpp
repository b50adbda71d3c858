#include "weyl/study/sweep/estimate.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

/// When all is done that is begun in this order by so many workers.
double end_of(const std::vector<double>& seconds, int64_t jobs) {
  std::vector<double> free(static_cast<size_t>(std::max<int64_t>(jobs, 1)), 0);
  for (const double s : seconds) {
    *std::ranges::min_element(free) += s;
  }
  return *std::ranges::max_element(free);
}

PlannedRow planned(const SweepRuns& runs, const SweepRow& row, const ModelCost& cost) {
  PlannedRow p;
  const bool timed = cost.step_seconds > 0;
  if (runs.options.unit == BudgetUnit::flops) {
    p.steps = std::ceil(row.budget / (cost.facts.flops_a_token * cost.tokens_a_step));
  } else {
    p.steps = timed ? std::ceil(row.budget / cost.step_seconds) : NAN;
  }
  p.tokens = p.steps * cost.tokens_a_step;
  p.flops = p.tokens * cost.facts.flops_a_token;
  p.flops_real = p.tokens * cost.real_flops_a_token;
  p.repeats = cost.facts.tokens > 0 && p.tokens > cost.facts.tokens;
  if (timed) {
    const SweepModel& model = runs.models[row.model];
    const double epoch = cost.facts.tokens > 0 ? cost.facts.tokens : cost.epoch_tokens;
    p.unvalidated = !runs.options.validations && epoch <= 0 && runs.options.unit == BudgetUnit::flops &&
                    cost.valid_seconds > 0;
    const double validations = runs.options.validations ? static_cast<double>(*runs.options.validations)
                               : epoch > 0
                                   ? std::floor(p.tokens / epoch / model.recipe.train.evaluate_every) + 1
                                   : 0;
    const double training =
        runs.options.unit == BudgetUnit::seconds
            ? row.budget
            : p.steps * cost.step_seconds + std::min(validations, p.steps) * cost.valid_seconds;
    p.seconds = static_cast<double>(row.trials.size()) * (training + cost.test_seconds + cost.fixed_seconds);
  }
  return p;
}

}  // namespace

SweepPlan plan_of(const SweepRuns& runs, const std::vector<ModelCost>& costs, int64_t jobs) {
  SweepPlan plan;
  std::vector<double> each;
  plan.budget_seconds.assign(runs.options.budgets.size(), 0);
  bool all_timed = true;
  for (const SweepRow& row : runs.rows) {
    const PlannedRow p = planned(runs, row, costs[row.model]);
    const auto trials = static_cast<double>(row.trials.size());
    each.insert(each.end(), row.trials.size(), p.seconds.value_or(0) / trials);
    const auto budget = std::ranges::find(runs.options.budgets, row.budget) - runs.options.budgets.begin();
    plan.budget_seconds[static_cast<size_t>(budget)] += p.seconds.value_or(0);
    all_timed = all_timed && p.seconds;
    plan.rows.push_back(p);
  }
  if (all_timed) {
    plan.total_seconds = end_of(each, jobs);
  }
  return plan;
}

void require_unique(const SweepRuns& runs, const std::vector<ModelFacts>& facts) {
  if (runs.options.epochs == SweepEpochs::repeat) {
    return;
  }
  const SweepRow* worst = nullptr;
  double most = 0;
  for (const SweepRow& row : runs.rows) {
    const double share = row.budget / facts[row.model].flops_a_token / facts[row.model].tokens;
    if (share > most) {
      most = share;
      worst = &row;
    }
  }
  if (worst != nullptr && most > 1) {
    const SweepModel& model = runs.models[worst->model];
    throw ConfigError(text("epochs: must be \"repeat\", or the data have more: ", model.system, " ",
                           model.size, " at ", short_number(worst->budget), " FLOPs needs ",
                           short_number(worst->budget / facts[worst->model].flops_a_token), " tokens, ",
                           short_number(most), " times the ", short_number(facts[worst->model].tokens),
                           " of ", path_of(model.recipe.data)));
  }
}

}  // namespace weyl
