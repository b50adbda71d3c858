#include "weyl/study/scaling/point_fit.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "weyl/core/check.h"
#include "weyl/core/jobs.h"
#include "weyl/core/quantile.h"
#include "weyl/core/random.h"

namespace weyl {

Estimate basic_interval(double value, std::vector<double> resampled, Spread spread) {
  Estimate estimate{.value = value};
  const size_t all = resampled.size();
  if (spread == Spread::logarithmic) {
    for (double& x : resampled) {
      x = std::log(x);
    }
  }
  std::erase_if(resampled, [](double x) { return !std::isfinite(x); });
  if (resampled.empty() || !std::isfinite(value) || 100 * (all - resampled.size()) > all) {
    return estimate;
  }
  const double centre = spread == Spread::logarithmic ? std::log(value) : value;
  double low = 2 * centre - quantile(resampled, 0.975), high = 2 * centre - quantile(resampled, 0.025);
  if (spread == Spread::logarithmic) {
    low = std::exp(low);
    high = std::exp(high);
  }
  if (std::isfinite(low) && std::isfinite(high)) {
    estimate.low = low;
    estimate.high = high;
  }
  return estimate;
}

namespace {

constexpr size_t kept_minima = 3;
constexpr size_t most_left_out = 200;
constexpr double smooth_delta = 0.1;  // wide enough that few descents meet a kink

std::vector<Coefficients> places_of(const std::vector<Minimum>& minima) {
  std::vector<Coefficients> places;
  for (const Minimum& m : minima) {
    places.push_back(m.x);
  }
  return places;
}

// |log L - log L_i| of each left-out run.
std::vector<double> leave_one_out_errors(const LogRuns& runs, const FitForm& form,
                                         const std::vector<Coefficients>& starts, int64_t threads) {
  const size_t count = std::min(runs.size(), most_left_out);
  std::vector<double> errors(count);
  run_samples(static_cast<int64_t>(count), threads, {}, [&](int64_t i, const std::atomic<bool>&) {
    const size_t left_out = static_cast<size_t>(i) * runs.size() / count;
    LogRuns others = runs;
    others.weight[left_out] = 0;
    const Objective objective(others, form);
    const Minimum found = lowest(objective, starts);
    errors[static_cast<size_t>(i)] = std::abs(objective.predicted(found.x, left_out) - runs.loss[left_out]);
  });
  return errors;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Whether these errors are lower than the others in the mean, by more than two standard errors of the difference.
bool clearly_lower(const std::vector<double>& errors, const std::vector<double>& others) {
  const auto count = static_cast<double>(errors.size());
  double sum = 0, squares = 0;
  for (size_t i = 0; i < errors.size(); ++i) {
    const double gain = others[i] - errors[i];
    sum += gain;
    squares += gain * gain;
  }
  const double gain = sum / count, variance = std::max(0.0, squares / count - gain * gain);
  return gain > 2 * std::sqrt(variance / (count - 1));
}

/// What was tried, the form that holds its ground, and its errors.
struct Contest {
  std::vector<TriedForm> tried;
  std::optional<FitForm> best;
  std::vector<double> errors;
};

// Widths from the widest, which wastes least of the data where noise has no outliers.
void try_widths(const LogRuns& runs, bool free_E, int64_t threads, Contest& contest) {
  FitForm form{.free_E = free_E, .delta = smooth_delta};
  if (runs.different_points() <= form.coefficients()) {
    return;
  }
  const Objective smooth(runs, form);
  const auto starts = places_of(best_minima(smooth, grid_of_starts(smooth), kept_minima, threads));
  for (const double delta : {smooth_delta, 1e-2, 1e-3, 1e-4}) {
    form.delta = delta;
    const Objective objective(runs, form);
    const auto minima = places_of(best_minima(objective, starts, kept_minima, threads));
    std::vector<double> errors = leave_one_out_errors(runs, form, minima, threads);
    contest.tried.push_back({form, mean(errors)});
    if (!contest.best || clearly_lower(errors, contest.errors)) {
      contest.best = form;
      contest.errors = std::move(errors);
    }
  }
}

// Redrawn until it has as many different points (N, D) as the form has coefficients; the runs themselves have.
LogRuns resample(const LogRuns& runs, const FitForm& form, const Bootstrap& bootstrap, uint64_t i) {
  Stream stream(bootstrap.seed, bootstrap.name, {i});
  LogRuns drawn = runs;
  const std::vector<size_t> points = runs.points();
  for (size_t different = 0; different < form.coefficients();) {
    std::fill(drawn.weight.begin(), drawn.weight.end(), 0.0);
    std::vector<bool> there(runs.size());
    different = 0;
    for (size_t k = 0; k < runs.size(); ++k) {
      const auto at = static_cast<size_t>(stream.below(static_cast<int64_t>(runs.size())));
      drawn.weight[at] += 1;
      different += there[points[at]] ? 0 : 1;
      there[points[at]] = true;
    }
  }
  return drawn;
}

double relative_difference(double one, double other) {
  return std::abs(one - other) / std::max(std::abs(one), std::abs(other));
}

}  // namespace

PointFit fit_from(const LogRuns& runs, const FitForm& form, const std::vector<Coefficients>& starts,
                  int64_t threads) {
  PointFit fit;
  fit.form = form;
  const Objective objective(runs, form);
  fit.minima = best_minima(objective, starts, kept_minima, threads);
  const Coefficients& x = fit.minima.front().x;
  fit.fitted = objective.law_at(x);
  for (size_t i = 0; i < runs.size(); ++i) {
    const double off = std::abs(objective.predicted(x, i) - runs.loss[i]);
    fit.mean_residual += off / static_cast<double>(runs.size());
    fit.worst_residual = std::max(fit.worst_residual, off);
  }
  return fit;
}

PointFit fit_law(const LogRuns& runs, const std::optional<FitForm>& form, int64_t threads) {
  std::vector<TriedForm> tried;
  FitForm chosen;
  if (form) {
    chosen = *form;
  } else {
    Contest contest;
    try_widths(runs, false, threads, contest);
    require(contest.best.has_value(), "fit: must have more different runs than coefficients, got ",
            runs.different_points());
    try_widths(runs, true, threads, contest);
    chosen = *contest.best;
    tried = std::move(contest.tried);
  }
  const Objective objective(runs, chosen);
  PointFit fit = fit_from(runs, chosen, grid_of_starts(objective), threads);
  fit.tried = std::move(tried);
  return fit;
}

std::vector<FittedLaw> resampled_laws(const LogRuns& runs, const PointFit& fit, const Bootstrap& bootstrap) {
  require(runs.different_points() >= fit.form.coefficients(), "resamples: must have ",
          fit.form.coefficients(), " different runs or more, got ", runs.different_points());
  std::vector<FittedLaw> laws(static_cast<size_t>(bootstrap.count));
  const auto starts = places_of(fit.minima);
  run_samples(bootstrap.count, bootstrap.threads, {}, [&](int64_t i, const std::atomic<bool>&) {
    const LogRuns drawn = resample(runs, fit.form, bootstrap, static_cast<uint64_t>(i));
    const Objective objective(drawn, fit.form);
    laws[static_cast<size_t>(i)] = objective.law_at(lowest(objective, starts).x);
  });
  return laws;
}

GridCheck check_by_grid(const LogRuns& runs, const PointFit& fit, const Bootstrap& bootstrap, int64_t count) {
  std::vector<double> differences(static_cast<size_t>(count));
  const auto starts = places_of(fit.minima);
  run_samples(count, bootstrap.threads, {}, [&](int64_t i, const std::atomic<bool>&) {
    const LogRuns drawn = resample(runs, fit.form, bootstrap, static_cast<uint64_t>(i));
    const Objective objective(drawn, fit.form);
    const ScalingLaw few = objective.law_at(lowest(objective, starts).x).law;
    const ScalingLaw all =
        objective.law_at(best_minima(objective, grid_of_starts(objective), 1, 1).front().x).law;
    differences[static_cast<size_t>(i)] =
        std::max(relative_difference(few.alpha, all.alpha), relative_difference(few.beta, all.beta));
  });
  GridCheck check{.resamples = count};
  for (const double difference : differences) {
    check.worst = std::max(check.worst, difference);
  }
  return check;
}

}  // namespace weyl
