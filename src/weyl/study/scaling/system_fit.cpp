#include "weyl/study/scaling/system_fit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/text_number.h"
#include "weyl/study/scaling/repetition.h"

namespace weyl {
namespace {

constexpr int64_t needed_minima = 3;
constexpr const char* no_finite_law = "no finite coefficients fit its losses best";
constexpr double wide_xi = 1.25;  // largest over smallest flops / (N D) that passes without a note

bool has_finite_coefficients(const ScalingLaw& law) {
  return std::isfinite(law.A) && std::isfinite(law.alpha) && std::isfinite(law.B) &&
         std::isfinite(law.beta) && std::isfinite(law.E);
}

void require_fit(const std::vector<ScalingRun>& runs, const std::optional<FitForm>& form) {
  std::set<double> sizes, tokens;
  std::set<std::pair<double, double>> points;
  for (const ScalingRun& run : runs) {
    sizes.insert(run.parameters);
    tokens.insert(run.tokens);
    points.emplace(run.parameters, run.tokens);
  }
  const size_t least = (form ? *form : FitForm{}).coefficients() + 1;
  require<DataError>(points.size() >= least, "must have ", least,
                     " runs or more that differ in size or tokens, one beyond the coefficients, has ",
                     points.size(), points.size() < runs.size() ? text(" in ", runs.size(), " runs") : "");
  require<DataError>(sizes.size() > 1,
                     "must have runs of two sizes or more, has one: ", short_number(*sizes.begin()),
                     " parameters");
  require<DataError>(tokens.size() > 1, "must have runs of two numbers of tokens or more, has one: ",
                     short_number(*tokens.begin()));
}

void note_repetition(SystemFit& fit, const std::vector<ScalingRun>& runs, const ScalingOptions& options) {
  const auto repeated =
      std::ranges::count_if(runs, [](const ScalingRun& run) { return saw_more_than(run, 1); });
  if (repeated > 0) {
    double most = 1;
    for (const ScalingRun& run : runs) {
      most = std::max(most, epochs_of(run));
    }
    fit.notes.push_back(text(repeated, " of ", runs.size(), " runs saw their data more than once (up to ",
                             short_number(most),
                             " passes), and the law takes repeated tokens as new; --epochs leaves them out"));
  }
  const auto silent = std::ranges::count_if(runs, [](const ScalingRun& run) { return !run.unique_tokens; });
  if (options.most_epochs && silent > 0) {
    fit.notes.push_back(
        text(silent, " of ", runs.size(), " runs do not say their unique_tokens and pass --epochs"));
  }
}

void find_xi(SystemFit& fit, const std::vector<ScalingRun>& runs, const ScalingOptions& options) {
  std::vector<double> ratios;
  for (const ScalingRun& run : runs) {
    if (run.flops) {
      ratios.push_back(*run.flops / (run.parameters * run.tokens));
    }
  }
  const auto given = options.xi.find(fit.system);
  if (!ratios.empty()) {
    require<ConfigError>(given == options.xi.end(), "--xi ", fit.system,
                         "=...: its runs have flops, which say it");
    fit.xi = median(ratios);
    fit.xi_from = "runs";
    const auto [least, most] = std::ranges::minmax(ratios);
    if (most > wide_xi * least) {
      fit.notes.push_back(text("flops / (parameters tokens) lies between ", short_number(least), " and ",
                               short_number(most), "; the median ", short_number(*fit.xi),
                               " is taken as xi"));
    }
  } else if (given != options.xi.end()) {
    fit.xi = given->second;
    fit.xi_from = "given";
  }
}

void find_isoflops(SystemFit& fit, const std::vector<ScalingRun>& runs) {
  const std::vector<BudgetGroup> groups = budget_groups(runs, fit.xi);
  const GridOfBudgets grid = grid_of(runs, groups);
  if (grid.holds()) {
    fit.isoflops = isoflops_of(runs, fit.xi);
  }
  fit.isoflop_law = law_of_minima(fit.isoflops);
  if (const auto cut = std::ranges::count(groups, true, &BudgetGroup::cut); grid.holds() && cut > 0) {
    fit.notes.push_back("isoflops: runs of like flops that lie too far apart for one budget are in none");
  }
  int64_t aside = 0;
  for (const Isoflop& isoflop : fit.isoflops) {
    aside += isoflop.repeated_aside;
  }
  if (aside > 0) {
    fit.notes.push_back(text("isoflops: ", aside,
                             " runs on repeated data stand aside, where their size has runs on fresh data"));
  }
  const auto inside = std::ranges::count(fit.isoflops, MinimumKind::inside, &Isoflop::kind);
  fit.sizes_bracketed = inside >= needed_minima;
  if (!fit.sizes_bracketed) {
    const std::string reason =
        !grid.holds() ? text("the runs are not on a grid of budgets: of ", grid.runs, " runs ", grid.inside,
                             " have flops like two other sizes' (a column budget says which belong together)")
        : groups.empty() ? "the budgets of the runs are not known (no column budget or flops, no --xi)"
                         : text("needs three budgets whose best size lies inside the sizes tried, has ",
                                inside, " of ", fit.isoflops.size());
    fit.left_out.push_back({grid.holds() ? "a, b, N*, D*" : "isoflops, a, b, N*, D*", reason});
  }
  for (const ScalingRun& run : runs) {
    if (const double flops = flops_of(run, fit.xi); std::isfinite(flops)) {
      fit.least_flops = fit.least_flops == 0 ? flops : std::min(fit.least_flops, flops);
      fit.most_flops = std::max(fit.most_flops, flops);
    }
  }
}

void check_by_hold_out(SystemFit& fit, const std::vector<ScalingRun>& runs, const ScalingOptions& options) {
  const auto groups = budget_groups(runs, fit.xi);
  if (groups.size() < 2) {
    fit.left_out.push_back({"hold-out", "needs two budgets or more"});
    return;
  }
  const std::set<size_t> held(groups.back().runs.begin(), groups.back().runs.end());
  std::vector<ScalingRun> rest, last;
  for (size_t i = 0; i < runs.size(); ++i) {
    (held.contains(i) ? last : rest).push_back(runs[i]);
  }
  try {
    require_fit(rest, options.form);
  } catch (const DataError& error) {
    fit.left_out.push_back({"hold-out", text("without the largest budget, the system ", error.what())});
    return;
  }
  const ScalingLaw law = fit_law(log_runs(rest), options.form, options.threads).fitted.law;
  HoldOut out{.budget = groups.back().budget, .runs = std::ssize(last), .fitted_runs = std::ssize(rest)};
  for (const ScalingRun& run : last) {
    const double predicted = law.loss(run.parameters, run.tokens),
                 error = std::abs(std::log(predicted / run.loss));
    out.mean_error += error / static_cast<double>(last.size());
    out.worst_error = std::max(out.worst_error, error);
    if (out.observed == 0 || run.loss < out.observed) {
      out.observed = run.loss;
      out.predicted = predicted;
    }
  }
  fit.hold_out = out;
}

// An estimate of what `quantity` makes of the law.
Estimate estimated(const SystemFit& fit, Spread spread,
                   const std::function<double(const ScalingLaw&)>& quantity) {
  std::vector<double> resampled;
  resampled.reserve(fit.resampled.size());
  for (const ScalingLaw& law : fit.resampled) {
    resampled.push_back(quantity(law));
  }
  const double value = quantity(fit.law);
  return std::isfinite(value) ? basic_interval(value, std::move(resampled), spread) : Estimate{};
}

void estimate_coefficients(SystemFit& fit) {
  const auto xi = fit.xi;
  const auto of = [xi](double Frontier::* member) {
    return [xi, member](const ScalingLaw& law) { return frontier_of(law, xi).*member; };
  };
  fit.A = estimated(fit, Spread::logarithmic, [](const ScalingLaw& law) { return law.A; });
  fit.alpha = estimated(fit, Spread::plain, [](const ScalingLaw& law) { return law.alpha; });
  fit.B = estimated(fit, Spread::logarithmic, [](const ScalingLaw& law) { return law.B; });
  fit.beta = estimated(fit, Spread::plain, [](const ScalingLaw& law) { return law.beta; });
  fit.E = estimated(fit, Spread::plain, [](const ScalingLaw& law) { return law.E; });
  fit.E.low = std::max(fit.E.low, 0.0);
  fit.gamma = estimated(fit, Spread::plain, of(&Frontier::gamma));
  fit.G = estimated(fit, Spread::logarithmic, of(&Frontier::G));
  if (fit.sizes_bracketed) {
    fit.a = estimated(fit, Spread::plain, of(&Frontier::a));
    fit.b = estimated(fit, Spread::plain, of(&Frontier::b));
  }
  if (xi) {
    fit.F = estimated(fit, Spread::logarithmic, of(&Frontier::F));
  } else {
    fit.left_out.push_back(
        {"F, N*, D*, L*, ratios", "xi is not known (no column flops, no --xi " + fit.system + "=...)"});
  }
  explain_missing_intervals(fit, {{"A", fit.A},
                                  {"alpha", fit.alpha},
                                  {"B", fit.B},
                                  {"beta", fit.beta},
                                  {"E", fit.E},
                                  {"a", fit.a},
                                  {"b", fit.b},
                                  {"gamma", fit.gamma},
                                  {"G", fit.G},
                                  {"F", fit.F}});
  if (std::isnan(fit.law.A)) {
    fit.left_out.push_back({"A, alpha, B, beta, E and what follows from them", no_finite_law});
  } else if (!fit.law.has_optimum()) {
    fit.left_out.push_back(
        {"a, b, gamma, F, G, N*, D*, L*", "the loss of these runs does not fall with both size and tokens"});
  }
}

}  // namespace

SystemFit fit_system(const std::string& system, const std::vector<ScalingRun>& all,
                     const ScalingOptions& options) {
  SystemFit fit;
  fit.system = system;
  const auto said = [&](const char* what) {
    if (options.report) {
      options.report(system + ": " + what);
    }
  };
  std::vector<ScalingRun> runs = all;
  if (options.most_epochs) {
    std::erase_if(runs, [&](const ScalingRun& run) { return saw_more_than(run, *options.most_epochs); });
  }
  require_fit(runs, options.form);
  fit.runs = std::ssize(runs);
  if (fit.runs < std::ssize(all)) {
    fit.notes.push_back(text(std::ssize(all) - fit.runs, " runs saw their data more than ",
                             short_number(*options.most_epochs),
                             " times and are left to the repetition form"));
  }
  note_repetition(fit, runs, options);
  find_xi(fit, runs, options);
  find_isoflops(fit, runs);

  said("point fit and leave-one-out");
  const LogRuns logs = log_runs(runs);
  fit.fit = fit_law(logs, options.form, options.threads);
  fit.law = fit.fit->fitted.law;
  const std::string name = "scaling law of " + system;
  const Bootstrap bootstrap{options.bootstraps, options.seed, name, options.threads};
  said("bootstrap");
  for (const FittedLaw& fitted : resampled_laws(logs, *fit.fit, bootstrap)) {
    fit.resampled.push_back(fitted.law);
  }
  if (const int64_t checks = std::min(options.grid_checks, options.bootstraps); checks > 0) {
    fit.grid_check = check_by_grid(logs, *fit.fit, bootstrap, checks);
  }
  fit.undetermined = why_undetermined(fit, logs);
  if (!fit.undetermined.empty()) {
    fit.notes.push_back(fit.undetermined);
  }
  const bool has_law = has_finite_coefficients(fit.law);
  if (!has_law) {
    fit.law = {NAN, NAN, NAN, NAN, NAN};
    fit.resampled.clear();
    fit.grid_check.reset();
  }
  estimate_coefficients(fit);
  fit.compute_law = compute_law_of(runs, fit.xi, fit.fit->form, bootstrap);
  if (!fit.compute_law) {
    fit.left_out.push_back(
        {"loss over compute alone", fit.isoflops.empty() && fit.most_flops > 0
                                        ? "needs three runs at the lower edge of loss over flops"
                                        : "needs three budgets whose flops are known"});
  } else if (!fit.compute_law->no_interval.empty()) {
    fit.left_out.push_back({"interval of loss over compute alone", fit.compute_law->no_interval});
  }
  if (has_law && has_repetition(all)) {
    said("repetition");
    fit.repetition = fit_repetition(all, *fit.fit, bootstrap, fit.left_out);
  }
  if (options.hold_out) {
    said("hold-out");
    check_by_hold_out(fit, runs, options);
  }
  return fit;
}

SystemFit given_system(const std::string& system, const ScalingLaw& law, std::optional<double> xi) {
  SystemFit fit;
  fit.system = system;
  fit.law = law;
  fit.xi = xi;
  fit.xi_from = xi ? "given" : "";
  fit.sizes_bracketed = true;
  estimate_coefficients(fit);
  return fit;
}

std::vector<AtBudget> at_budgets(const SystemFit& fit, const std::vector<double>& budgets) {
  std::vector<AtBudget> points;
  if (!fit.xi || !fit.law.has_optimum()) {
    return points;
  }
  for (const double budget : budgets) {
    AtBudget at{.budget = budget, .N = {}, .D = {}, .L = {}};
    const auto of = [&](double (Frontier::*quantity)(double) const) {
      return estimated(fit, Spread::logarithmic,
                       [&](const ScalingLaw& law) { return (frontier_of(law, fit.xi).*quantity)(budget); });
    };
    at.L = of(&Frontier::loss);
    if (fit.sizes_bracketed) {
      at.N = of(&Frontier::parameters);
      at.D = of(&Frontier::tokens);
    }
    // A hundredth beside the ends is their own rounding.
    at.outside = fit.most_flops > 0 && (budget < 0.99 * fit.least_flops || budget > 1.01 * fit.most_flops);
    points.push_back(at);
  }
  return points;
}

namespace {

constexpr double high_correlation = 0.99;
constexpr double large_difference = 0.1;  // of exponents, relative

double mean_of(const std::vector<double>& values) {
  double mean = 0;
  for (const double value : values) {
    mean += value / static_cast<double>(values.size());
  }
  return mean;
}

// Pearson's, of log N and log D.
double correlation(const LogRuns& runs) {
  const double n = mean_of(runs.parameters), d = mean_of(runs.tokens);
  double nn = 0, dd = 0, nd = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    nn += (runs.parameters[i] - n) * (runs.parameters[i] - n);
    dd += (runs.tokens[i] - d) * (runs.tokens[i] - d);
    nd += (runs.parameters[i] - n) * (runs.tokens[i] - d);
  }
  return nd / std::sqrt(nn * dd);
}

bool finite(const ScalingLaw& law) {
  return law.has_optimum() && law.A > 0 && law.B > 0 && has_finite_coefficients(law);
}

int64_t not_finite(const SystemFit& fit) {
  return std::ranges::count_if(fit.resampled, [](const ScalingLaw& law) { return !finite(law); });
}

}  // namespace

std::string why_undetermined(const SystemFit& fit, const LogRuns& runs) {
  std::vector<std::string> reasons;
  if (const double r = correlation(runs); r > high_correlation) {
    reasons.push_back(text("N and D rise together (their logarithms correlate by ", short_number(r),
                           "; runs that differ in tokens at one size would tell)"));
  }
  if (fit.grid_check && !(fit.grid_check->worst <= large_difference)) {
    reasons.push_back(text("fits of a resample from other starts come to exponents that differ by ",
                           short_number(std::round(100 * fit.grid_check->worst)), " %"));
  }
  if (const int64_t lost = not_finite(fit); 100 * lost > std::ssize(fit.resampled)) {
    reasons.push_back(
        text(lost, " of ", fit.resampled.size(), " resamples have no finite law with a best size"));
  }
  if (!has_finite_coefficients(fit.law)) {
    reasons.emplace_back(no_finite_law);
  } else if (!fit.law.has_optimum()) {
    reasons.emplace_back("the loss does not fall with both size and tokens");
  }
  std::string line;
  for (const std::string& reason : reasons) {
    line += (line.empty() ? std::string(undetermined_law) + ": " : "; ") + reason;
  }
  return line;
}

void explain_missing_intervals(SystemFit& fit, const std::vector<NamedEstimate>& estimates) {
  std::string names;
  for (const NamedEstimate& each : estimates) {
    if (std::isfinite(each.estimate.value) && std::isnan(each.estimate.low)) {
      names += (names.empty() ? "" : ", ") + std::string(each.name);
    }
  }
  if (!fit.resampled.empty() && !names.empty()) {
    fit.left_out.push_back(
        {"intervals of " + names,
         text("more than one in a hundred of ", fit.resampled.size(), " resamples has no finite value (",
              not_finite(fit), " have no law with a best size): the runs do not determine the law")});
  }
}

}  // namespace weyl
