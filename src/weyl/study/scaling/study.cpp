#include "weyl/study/scaling/study.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

// So many times the compute of one system for the loss of another is no number that runs have anything to say about.
constexpr double most_compute = 1e6;

SystemRatio::Point ratio_at(double budget, const SystemFit& system, const SystemFit& other) {
  const auto loss = [&](const ScalingLaw& one, const ScalingLaw& two) {
    return frontier_of(two, other.xi).loss(budget) / frontier_of(one, system.xi).loss(budget);
  };
  const auto compute = [&](const ScalingLaw& one, const ScalingLaw& two) {
    const double ratio =
        frontier_of(two, other.xi).flops_for(frontier_of(one, system.xi).loss(budget)) / budget;
    return ratio <= most_compute ? ratio : std::numeric_limits<double>::infinity();
  };
  std::vector<double> losses, computes;
  const size_t count = std::min(system.resampled.size(), other.resampled.size());
  for (size_t i = 0; i < count; ++i) {
    losses.push_back(loss(system.resampled[i], other.resampled[i]));
    computes.push_back(compute(system.resampled[i], other.resampled[i]));
  }
  SystemRatio::Point point{
      budget, basic_interval(loss(system.law, other.law), std::move(losses), Spread::logarithmic),
      basic_interval(compute(system.law, other.law), std::move(computes), Spread::logarithmic)};
  if (!std::isfinite(point.compute.value)) {
    point.compute = {};
  }
  return point;
}

// What the compute of equal loss does not tell at the budgets, and why.
void explain(SystemRatio& ratio, bool resampled) {
  std::string unreached, unsure;
  for (const SystemRatio::Point& point : ratio.budgets) {
    const bool reached = std::isfinite(point.compute.value);
    if (std::string& list = reached ? unsure : unreached;
        !reached || (resampled && std::isnan(point.compute.low))) {
      list += (list.empty() ? "" : ", ") + short_number(point.budget);
    }
  }
  if (!unreached.empty()) {
    ratio.left_out.push_back(
        {"compute for equal loss", text("at FLOPs ", unreached, ": ", ratio.other, " comes to the loss of ",
                                        ratio.system, " at no budget within a million times that")});
  }
  if (!unsure.empty()) {
    ratio.left_out.push_back(
        {"intervals of compute for equal loss",
         text("at FLOPs ", unsure, ": in more than one of a hundred resamples there is no such budget")});
  }
}

}  // namespace

std::vector<SystemRatio> ratios_of(const std::vector<SystemFit>& systems, const std::vector<double>& budgets,
                                   const std::vector<double>& curve) {
  std::vector<const SystemFit*> known;
  for (const SystemFit& fit : systems) {
    if (fit.xi && fit.law.has_optimum()) {
      known.push_back(&fit);
    }
  }
  std::vector<SystemRatio> ratios;
  if (budgets.empty()) {
    return ratios;
  }
  const double middle = std::sqrt(std::ranges::min(budgets) * std::ranges::max(budgets));
  for (size_t i = 0; i < known.size(); ++i) {
    for (size_t j = i + 1; j < known.size(); ++j) {
      const SystemFit *system = known[i], *other = known[j];
      if (frontier_of(other->law, other->xi).loss(middle) <
          frontier_of(system->law, system->xi).loss(middle)) {
        std::swap(system, other);
      }
      SystemRatio ratio{system->system, other->system, {}, {}, {}};
      for (const double budget : budgets) {
        ratio.budgets.push_back(ratio_at(budget, *system, *other));
      }
      for (const double budget : curve) {
        ratio.curve.push_back(ratio_at(budget, *system, *other));
      }
      explain(ratio, !system->resampled.empty() && !other->resampled.empty());
      ratios.push_back(std::move(ratio));
    }
  }
  return ratios;
}

namespace {

constexpr size_t curve_points = 25;

// Even in the logarithm over the compute of all runs; nothing where that is not known.
std::vector<double> curve_of(const std::vector<SystemFit>& systems) {
  double least = HUGE_VAL, most = 0;
  for (const SystemFit& fit : systems) {
    if (fit.most_flops > 0) {
      least = std::min(least, fit.least_flops);
      most = std::max(most, fit.most_flops);
    }
  }
  std::vector<double> curve;
  for (size_t i = 0; i < curve_points && least < most; ++i) {
    curve.push_back(least * std::pow(most / least, static_cast<double>(i) / (curve_points - 1)));
  }
  return curve;
}

// The flops of the isoflops of all systems (of one without, the ends and the middle of its compute), those within a hundredth
// of one another once.
std::vector<double> budgets_of(const std::vector<SystemFit>& systems) {
  std::vector<double> budgets;
  for (const SystemFit& fit : systems) {
    for (const Isoflop& isoflop : fit.isoflops) {
      if (std::isfinite(isoflop.flops)) {
        budgets.push_back(isoflop.flops);
      }
    }
  }
  for (const SystemFit& fit : systems) {
    if (fit.isoflops.empty() && fit.most_flops > 0) {
      budgets.insert(budgets.end(),
                     {fit.least_flops, std::sqrt(fit.least_flops * fit.most_flops), fit.most_flops});
    }
  }
  std::ranges::sort(budgets);
  const auto near = [](double one, double other) { return other < 1.01 * one; };
  budgets.erase(std::unique(budgets.begin(), budgets.end(), near), budgets.end());
  return budgets;
}

void tell_at(ScalingStudy& study, const std::vector<double>& budgets, const std::vector<double>& curve) {
  for (SystemFit& fit : study.systems) {
    fit.budgets = at_budgets(fit, budgets);
    fit.curve = at_budgets(fit, curve);
  }
  study.ratios = ratios_of(study.systems, budgets, curve);
}

}  // namespace

ScalingStudy fit_study(const RunTable& table, const ScalingOptions& options) {
  ScalingStudy study;
  study.file = table.file;
  study.asked = {options.xi, options.budgets, options.most_epochs, options.hold_out};
  study.bootstraps = options.bootstraps;
  study.seed = options.seed;
  study.refused = table.refused;
  const std::vector<std::string> names = table.systems();
  require<DataError>(!names.empty(), table.file, ": must have runs, has none",
                     table.refused.empty()
                         ? ""
                         : text(": line ", table.refused.front().line, ": ", table.refused.front().reason));
  for (const auto& [system, xi] : options.xi) {
    require<ConfigError>(std::ranges::find(names, system) != names.end(), "--xi ", quote(system),
                         ": must be a system of the runs: ", joined_printable(names));
  }
  require<ConfigError>(!options.most_epochs || std::ranges::any_of(table.runs,
                                                                   [](const ScalingRun& run) {
                                                                     return run.unique_tokens.has_value();
                                                                   }),
                       "--epochs: needs a column unique_tokens, ", table.file, " says none");
  std::string reasons;
  for (const std::string& name : names) {
    try {
      study.systems.push_back(fit_system(name, table.of(name), options));
    } catch (const DataError& error) {
      study.refused_systems.push_back({name, error.what()});
      reasons += (reasons.empty() ? "" : "; ") + printable(name) + " " + error.what();
    }
  }
  require<DataError>(!study.systems.empty(), table.file, ": no system can be fitted: ", reasons);
  tell_at(study, options.budgets.empty() ? budgets_of(study.systems) : options.budgets,
          curve_of(study.systems));
  return study;
}

ScalingStudy derived_study(const std::string& file, const std::vector<GivenLaw>& laws,
                           const std::vector<double>& budgets) {
  ScalingStudy study;
  study.file = file;
  study.asked.budgets = budgets;
  for (const GivenLaw& given : laws) {
    study.systems.push_back(given_system(given.system, given.law, given.xi));
  }
  tell_at(study, budgets, {});
  return study;
}

bool is_derived(const ScalingStudy& study) {
  return std::ranges::none_of(study.systems, [](const SystemFit& fit) { return fit.fit.has_value(); });
}

}  // namespace weyl
