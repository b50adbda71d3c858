#include "weyl/study/scaling/repetition.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr double largest_R = 1e6;

LogRuns effective_runs(const std::vector<ScalingRun>& runs) {
  LogRuns logs = log_runs(runs);
  for (size_t i = 0; i < runs.size(); ++i) {
    const bool repeated = saw_more_than(runs[i], 1);
    logs.epochs.push_back(repeated ? epochs_of(runs[i]) - 1 : 0);
    if (repeated) {
      logs.tokens[i] = std::log(*runs[i].unique_tokens);
    }
  }
  return logs;
}

// The minima of the fit without repetition, and the whole grid.
std::vector<Coefficients> repetition_starts(const Objective& objective, const PointFit& fit,
                                            const LogRuns& plain) {
  std::vector<Coefficients> starts = grid_of_starts(objective);
  const Objective before(plain, fit.form);
  for (const Minimum& minimum : fit.minima) {
    for (const double R : {1.0, 4.0, 15.0, 60.0}) {
      starts.push_back(objective.at_law({before.law_at(minimum.x).law, R}));
    }
  }
  std::erase_if(starts, [](const Coefficients& x) {
    return !std::ranges::all_of(x, [](double c) { return std::isfinite(c); });
  });
  return starts;
}

}  // namespace

LogRuns log_runs(const std::vector<ScalingRun>& runs) {
  LogRuns logs;
  for (const ScalingRun& run : runs) {
    logs.parameters.push_back(std::log(run.parameters));
    logs.tokens.push_back(std::log(run.tokens));
    logs.loss.push_back(std::log(run.loss));
    logs.weight.push_back(1);
  }
  return logs;
}

bool has_repetition(const std::vector<ScalingRun>& runs) {
  return std::ranges::any_of(runs, [](const ScalingRun& run) { return saw_more_than(run, 1); });
}

std::optional<RepetitionFit> fit_repetition(const std::vector<ScalingRun>& runs, const PointFit& fit,
                                            const Bootstrap& bootstrap, std::vector<LeftOut>& left_out) {
  const FitForm form{.free_E = fit.form.free_E, .repetition = true, .delta = fit.form.delta};
  const auto silent = std::ranges::count_if(runs, [](const ScalingRun& run) { return !run.unique_tokens; });
  if (silent > 0) {
    left_out.push_back({"repetition", text(silent, " runs do not say their unique_tokens")});
    return std::nullopt;
  }
  const LogRuns logs = effective_runs(runs);
  if (logs.different_points() <= form.coefficients()) {
    left_out.push_back({"repetition", text("needs ", form.coefficients() + 1, " different runs, has ",
                                           logs.different_points())});
    return std::nullopt;
  }
  const Objective objective(logs, form);
  const PointFit point =
      fit_from(logs, form, repetition_starts(objective, fit, log_runs(runs)), bootstrap.threads);
  if (!(point.fitted.R < largest_R)) {
    left_out.push_back({"repetition", "these losses do not tell repeated data from new"});
    return std::nullopt;
  }
  const std::string name = std::string(bootstrap.name) + ", repetition";
  const auto laws = resampled_laws(logs, point, {bootstrap.count, bootstrap.seed, name, bootstrap.threads});
  const auto estimated = [&](Spread spread, auto&& of) {
    std::vector<double> resampled;
    for (const FittedLaw& law : laws) {
      resampled.push_back(of(law));
    }
    return basic_interval(of(point.fitted), std::move(resampled), spread);
  };
  RepetitionFit found;
  found.A = estimated(Spread::logarithmic, [](const FittedLaw& f) { return f.law.A; });
  found.alpha = estimated(Spread::plain, [](const FittedLaw& f) { return f.law.alpha; });
  found.B = estimated(Spread::logarithmic, [](const FittedLaw& f) { return f.law.B; });
  found.beta = estimated(Spread::plain, [](const FittedLaw& f) { return f.law.beta; });
  found.E = estimated(Spread::plain, [](const FittedLaw& f) { return f.law.E; });
  found.E.low = std::max(found.E.low, 0.0);
  found.R = estimated(Spread::logarithmic, [](const FittedLaw& f) { return f.R; });
  if (!laws.empty() && (std::isnan(found.R.low) || std::isnan(found.beta.low))) {
    left_out.push_back({"intervals of repetition", text("more than one in a hundred of ", laws.size(),
                                                        " resamples has no finite value")});
  }
  found.runs = std::ssize(runs);
  for (const ScalingRun& run : runs) {
    found.most_epochs = std::max(found.most_epochs, epochs_of(run));
  }
  return found;
}

}  // namespace weyl
