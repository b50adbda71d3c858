#include "weyl/app/sweep_costs.h"

#include <algorithm>
#include <set>

#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/core/check.h"
#include "weyl/study/sweep/comparable.h"

namespace weyl {

SweepRuns runs_of_file(const std::string& path, const Machine& machine, const Systems& systems) {
  SweepOptions options = read_sweep(path);
  if (machine.dtype) {
    options.set.push_back("train.precision=" + *machine.dtype);
  }
  SweepRuns runs = runs_of(std::move(options), options_of(systems));
  std::set<std::string> warnings;
  for (const SweepModel& model : runs.models) {
    for (const std::string& warning : model.recipe.warnings) {
      if (warnings.insert(warning).second) {
        warn(warning);
      }
    }
  }
  return runs;
}

std::vector<ModelCost> costs_of(const SweepRuns& runs, const MeasureOptions& options, const Systems& systems,
                                bool without_data, bool quiet) {
  SweepData data;
  std::vector<ModelCost> costs;
  const auto of_all = [&](const MeasureOptions& how, const auto& progress) {
    costs.clear();
    for (const SweepModel& model : runs.models) {
      const Splits* splits = data.of(model.recipe);
      require<DataError>(splits != nullptr || without_data, path_of(model.recipe.data),
                         ": must be the data of the sweep, but is not there");
      try {
        costs.push_back(cost_of(model.recipe, splits, how, systems));
      } catch (const ConfigError& error) {
        throw ConfigError(text(model.system, " ", model.size, ": ", error.what()));
      }
      progress(model);
    }
  };
  MeasureOptions timed = options;
  timed.loss = runs.options.loss;
  timed.choose = std::ranges::any_of(runs.rows, [](const SweepRow& row) { return row.trials.size() > 1; });
  MeasureOptions untimed = timed;
  untimed.steps = 0;
  of_all(untimed, [](const SweepModel&) {});  // finds what is wrong with any before the first is timed
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i].evaluated = data.evaluated(runs.models[i].recipe);
  }
  for (const std::string& note : require_comparable(runs, costs)) {
    warn_if_any(note);
  }
  if (options.steps > 0) {
    Progress progress("timing", static_cast<int64_t>(runs.models.size()), Progress::style_for_stderr(quiet));
    of_all(timed, [&](const SweepModel& model) {
      progress.update(static_cast<int64_t>(costs.size()), model.system + " " + model.size);
    });
    progress.clear();
  }
  return costs;
}

TrainWords words_of(const SweepRuns& runs, const SweepRow& row, const SweepTrial& trial,
                    const ModelCost& cost, const Machine& machine) {
  const std::vector<std::string> common{"--device", machine.device, "--quiet", "--json", "--no-pictures"};
  TrainWords words{{"train", runs.models[row.model].config}, {"train"}};
  const auto overrides = overrides_of(runs, row, trial, cost.facts.flops_a_token, cost.facts.tokens);
  words.train.insert(words.train.end(), overrides.begin(), overrides.end());
  words.train.insert(words.train.end(), {"--threads", std::to_string(cost.threads)});
  words.train.insert(words.train.end(), common.begin(), common.end());
  words.resume.insert(words.resume.end(), common.begin(), common.end());
  return words;
}

}  // namespace weyl
