#include "weyl/study/scaling/compute_law.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/jobs.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr size_t budgets_beyond = 3;  // the coefficients: with fewer, resamples are mostly of two budgets

std::vector<ComputeLaw::Point> lowest_of(std::span<const ScalingRun> runs,
                                         const std::vector<BudgetGroup>& groups, std::optional<double> xi) {
  std::vector<ComputeLaw::Point> points;
  for (const BudgetGroup& group : groups) {
    if (!group.cut && std::isfinite(group.flops)) {
      points.push_back({group.flops, HUGE_VAL});
      for (const size_t i : group.runs) {
        if (runs[i].loss < points.back().loss) {
          points.back() = {flops_of(runs[i], xi), runs[i].loss};
        }
      }
    }
  }
  return points;
}

// By rising flops, each with a lower loss than all before it.
std::vector<ComputeLaw::Point> envelope_of(std::span<const ScalingRun> runs, std::optional<double> xi) {
  std::vector<ComputeLaw::Point> all, points;
  for (const ScalingRun& run : runs) {
    if (const double flops = flops_of(run, xi); std::isfinite(flops)) {
      all.push_back({flops, run.loss});
    }
  }
  std::ranges::sort(all, {}, [](const ComputeLaw::Point& p) { return std::pair(p.flops, p.loss); });
  for (const ComputeLaw::Point& point : all) {
    if (points.empty() || point.loss < points.back().loss) {
      points.push_back(point);
    }
  }
  return points;
}

LogRuns as_runs(const std::vector<ComputeLaw::Point>& frontier) {
  LogRuns runs;
  for (const auto& point : frontier) {
    runs.parameters.push_back(std::log(point.flops));
    runs.loss.push_back(std::log(point.loss));
  }
  runs.tokens.assign(runs.size(), 0.0);
  runs.weight.assign(runs.size(), 1.0);
  return runs;
}

std::vector<Coefficients> compute_law_starts(const Objective& objective) {
  double mean = 0;
  for (const double loss : objective.runs().loss) {
    mean += loss / static_cast<double>(objective.runs().size());
  }
  const double least = std::ranges::min(objective.runs().loss);
  std::vector<Coefficients> starts;
  for (const double exponent : {0.05, 0.1, 0.2, 0.4, 0.8, 1.6}) {
    for (const double share : objective.form().free_E ? std::vector{0.01, 0.5, 0.95} : std::vector{0.0}) {
      starts.push_back({mean, exponent, least + std::log(share)});
    }
  }
  return starts;
}

ScalingLaw fitted(const std::vector<ComputeLaw::Point>& frontier, const FitForm& form) {
  const LogRuns runs = as_runs(frontier);
  const Objective objective(runs, form);
  return objective.law_at(lowest(objective, compute_law_starts(objective)).x).law;
}

// As many points with replacement, again until as many are different as the law has coefficients.
std::vector<ComputeLaw::Point> drawn(const std::vector<ComputeLaw::Point>& frontier, size_t coefficients,
                                     Stream& stream) {
  std::vector<ComputeLaw::Point> points;
  for (std::set<int64_t> different; different.size() < coefficients;) {
    different.clear();
    points.clear();
    for (size_t k = 0; k < frontier.size(); ++k) {
      const int64_t at = stream.below(std::ssize(frontier));
      different.insert(at);
      points.push_back(frontier[static_cast<size_t>(at)]);
    }
  }
  return points;
}

}  // namespace

std::optional<ComputeLaw> compute_law_of(std::span<const ScalingRun> runs, std::optional<double> xi,
                                         const FitForm& form, const Bootstrap& bootstrap) {
  ComputeLaw law;
  const std::vector<BudgetGroup> groups = budget_groups(runs, xi);
  law.envelope = !grid_of(runs, groups).holds();
  law.frontier = law.envelope ? envelope_of(runs, xi) : lowest_of(runs, groups, xi);
  if (law.frontier.size() < 3) {
    return std::nullopt;
  }
  const FitForm one_term{
      .free_E = form.free_E && law.frontier.size() > 3, .delta = form.delta, .one_term = true};
  const size_t needed = one_term.coefficients() + budgets_beyond;
  const bool spread = law.frontier.size() >= needed;
  if (!spread && bootstrap.count > 0) {
    law.no_interval = text("needs ", needed, law.envelope ? " runs at the lower edge" : " budgets",
                           " to resample, has ", law.frontier.size());
  }
  const auto count = spread ? static_cast<size_t>(bootstrap.count) : 0;
  std::vector<double> F(count), gamma(count), E(count);
  run_samples(static_cast<int64_t>(count), bootstrap.threads, {}, [&](int64_t i, const std::atomic<bool>&) {
    Stream stream(bootstrap.seed, std::string(bootstrap.name) + ", frontier", {static_cast<uint64_t>(i)});
    const ScalingLaw resampled = fitted(drawn(law.frontier, one_term.coefficients(), stream), one_term);
    const auto at = static_cast<size_t>(i);
    F[at] = resampled.A;
    gamma[at] = resampled.alpha;
    E[at] = resampled.E;
  });
  const ScalingLaw all = fitted(law.frontier, one_term);
  law.F = basic_interval(all.A, F, Spread::logarithmic);
  law.gamma = basic_interval(all.alpha, gamma, Spread::plain);
  law.E = basic_interval(all.E, E, Spread::plain);
  law.E.low = std::max(law.E.low, 0.0);
  return law;
}

}  // namespace weyl
