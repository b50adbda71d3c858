#include "weyl/study/sweep/runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/comparable.h"

namespace weyl {
namespace {

std::string exact(double number) {
  std::string text;
  append_number(text, number);
  return text;
}

/// The overrides of a point, whose keys name the system as SYSTEM.
std::vector<std::string> with_system(const std::vector<std::string>& overrides, const std::string& system) {
  std::vector<std::string> named;
  for (std::string item : overrides) {
    constexpr std::string_view place = "model.SYSTEM.";
    if (item.starts_with(place)) {
      item = "model." + system + "." + item.substr(place.size());
    }
    named.push_back(std::move(item));
  }
  return named;
}

SweepModel model_of(const SweepOptions& o, const SweepSystem& system, const SweepPoint& point,
                    const ModelOptions& known) {
  SweepModel model{system.name, point.name, system.config.empty() ? o.base : system.config, o.set, {}};
  auto& overrides = model.overrides;
  overrides.insert(overrides.end(), system.set.begin(), system.set.end());
  if (system.augment) {
    overrides.push_back(
        text("train.augment=", names_of(*system.augment)[static_cast<size_t>(*system.augment)]));
  }
  try {
    const std::string name(read_recipe(model.config, overrides, known).model.system.name());
    const auto own = with_system(point.set, name);
    overrides.insert(overrides.end(), own.begin(), own.end());
    model.recipe = read_recipe(model.config, overrides, known);
    require_objects(model.recipe);
  } catch (const ConfigError& error) {
    throw ConfigError(text(system.name, " ", point.name, ": ", error.what()));
  }
  return model;
}

/// A table of the recipe as TOML, to tell whether two are the same.
template <class S>
std::string written(S options) {
  return write_toml([&](Fields& f) { fields(f, options); });
}

bool is_trained_at(const SweepOptions& o, const SweepSystem& system, const SweepPoint& point, double budget) {
  const bool named = system.largest.empty() || budget < o.budgets.back() ||
                     std::ranges::find(system.largest, point.name) != system.largest.end();
  return named && (point.budgets.empty() || std::ranges::find(point.budgets, budget) != point.budgets.end());
}

std::vector<double> rates_at(const SweepOptions& o, const SweepSystem& system, const Recipe& recipe,
                             double budget) {
  std::vector<double> rates = system.rates.empty() ? o.rates : system.rates;
  if (rates.empty()) {
    rates = {recipe.train.optimiser.rate};
  }
  if (o.rates_until && budget >= *o.rates_until) {
    rates.resize(1);
  }
  return rates;
}

/// A model that two points make would count twice in all that is fitted.
void require_different_models(const SweepRuns& runs, const SweepSystem& system, size_t first_model) {
  std::map<std::string, size_t> seen;  // point by recipe
  for (size_t p = 0; p < system.points.size(); ++p) {
    const auto [found, fresh] = seen.emplace(written(runs.models[first_model + p].recipe), p);
    const SweepPoint& other = system.points[found->second];
    const bool together = !fresh && std::ranges::any_of(runs.options.budgets, [&](double budget) {
      return is_trained_at(runs.options, system, system.points[p], budget) &&
             is_trained_at(runs.options, system, other, budget);
    });
    require<ConfigError>(!together, system.name, " ", system.points[p].name, ": must be another model than ",
                         other.name, ", got the same");
  }
}

/// Names may be joined by what stands in them: "a" "b-c" and "a-b" "c".
void require_folders_of_their_own(const SweepRuns& runs) {
  std::set<std::string> seen;
  for (const SweepRow& row : runs.rows) {
    for (const SweepTrial& trial : row.trials) {
      const SweepModel& model = runs.models[row.model];
      require<ConfigError>(seen.insert(trial.id).second, model.system, " ", model.size,
                           ": must have runs of its own, but another (its names and numbers joined, or a "
                           "rate given twice) is also called ",
                           trial.id);
    }
  }
}

void add_rows(SweepRuns& runs, size_t system_index, size_t first_model, size_t budget_index) {
  const SweepOptions& o = runs.options;
  const SweepSystem& system = o.systems[system_index];
  const double budget = o.budgets[budget_index];
  const int64_t seeds = o.seeds[o.seeds.size() == 1 ? 0 : budget_index];
  for (size_t p = 0; p < system.points.size(); ++p) {
    if (!is_trained_at(o, system, system.points[p], budget)) {
      continue;
    }
    const SweepModel& model = runs.models[first_model + p];
    for (int64_t seed = 0; seed < seeds; ++seed) {
      SweepRow row{first_model + p, budget, seed, {}};
      for (const double rate : rates_at(o, system, model.recipe, budget)) {
        row.trials.push_back(
            {text(model.system, "-", model.size, "-", exact(budget), "-seed", seed, "-rate", exact(rate)),
             rate});
      }
      runs.rows.push_back(std::move(row));
    }
  }
}

}  // namespace

SweepRuns runs_of(SweepOptions options, const ModelOptions& known) {
  SweepRuns runs{std::move(options), {}, {}};
  std::vector<size_t> first;
  for (const SweepSystem& system : runs.options.systems) {
    first.push_back(runs.models.size());
    for (const SweepPoint& point : system.points) {
      runs.models.push_back(model_of(runs.options, system, point, known));
    }
  }
  require_one_task(runs);
  for (size_t s = 0; s < first.size(); ++s) {
    require_different_models(runs, runs.options.systems[s], first[s]);
  }
  for (size_t b = 0; b < runs.options.budgets.size(); ++b) {
    for (size_t s = 0; s < runs.options.systems.size(); ++s) {
      add_rows(runs, s, first[s], b);
    }
  }
  require_folders_of_their_own(runs);
  return runs;
}

std::vector<std::string> overrides_of(const SweepRuns& runs, const SweepRow& row, const SweepTrial& trial,
                                      double flops_a_token, double tokens) {
  const SweepOptions& o = runs.options;
  std::vector<std::string> overrides = runs.models[row.model].overrides;
  const bool seconds = o.unit == BudgetUnit::seconds;
  overrides.insert(overrides.end(), {"train.epochs=false", "train.steps=false"});
  overrides.push_back(seconds ? "train.flops=false" : "train.flops=" + exact(row.budget));
  overrides.push_back(seconds ? "train.max_seconds=" + exact(row.budget) : "train.max_seconds=false");
  if (o.validations) {
    const double epochs = row.budget / flops_a_token / std::max(tokens, 1.0);
    overrides.push_back("train.evaluate_every=" +
                        exact(std::clamp(epochs / static_cast<double>(*o.validations), 1e-6, 1e9)));
  }
  overrides.push_back(o.patience ? text("train.patience=", *o.patience) : "train.patience=false");
  overrides.push_back("train.optimiser.rate=" + exact(trial.rate));
  overrides.push_back(text("train.seed=", row.seed));
  return overrides;
}

}  // namespace weyl
