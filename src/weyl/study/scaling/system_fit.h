#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "weyl/study/scaling/compute_law.h"
#include "weyl/study/scaling/isoflops.h"
#include "weyl/study/scaling/point_fit.h"

namespace weyl {

/// What is asked of a fit.
struct ScalingOptions {
  std::map<std::string, double> xi;  // of systems whose runs have no flops
  std::vector<double> budgets;       // flops at which N*, D*, L* are wanted; empty: those of the runs
  int64_t bootstraps = 10'000;       // 0: no intervals
  int64_t grid_checks = 50;          // resamples that are fitted from the whole grid too
  int64_t threads = 0;               // 0: one a core; no number depends on it
  uint64_t seed = 0;
  bool hold_out = false;              // also fit without the largest budget
  std::optional<double> most_epochs;  // runs that saw their data more often are left to the repetition form
  std::optional<FitForm> form;        // else by leave-one-out
  std::function<void(const std::string& what)> report;  // what is done next
};

/// The best size, data and loss of a budget. N and D are unknown where the runs do not bracket the best sizes.
struct AtBudget {
  double budget = 0;
  Estimate N, D, L;
  bool outside = false;  // beyond the compute of the runs
};

/// A fit of what is below the largest budget, and what it says of that.
struct HoldOut {
  double budget = 0;
  int64_t runs = 0, fitted_runs = 0;
  double mean_error = 0, worst_error = 0;  // |log L - log L_i| over the runs of the largest budget
  double observed = 0, predicted = 0;      // the lowest loss there, and what the fit says of that run
};

/// The data-repetition form.
struct RepetitionFit {
  Estimate A, alpha, B, beta, E, R;
  int64_t runs = 0;
  double most_epochs = 0;
};

struct LeftOut {
  std::string quantity, reason;
};

/// The law of one system and what follows from it.
struct SystemFit {
  std::string system;
  int64_t runs = 0;
  ScalingLaw law;
  std::vector<ScalingLaw> resampled;
  Estimate A, alpha, B, beta, E, a, b, gamma, G, F;
  std::optional<double> xi;
  std::string xi_from;                     // "runs", "given" or ""
  double least_flops = 0, most_flops = 0;  // of the runs; 0: not known
  bool sizes_bracketed = false;            // a, b, N*, D* may be told
  std::string undetermined;     // why the runs do not determine the law; "": nothing speaks against it
  std::optional<PointFit> fit;  // none of given coefficients
  std::optional<GridCheck> grid_check;
  std::vector<AtBudget> budgets, curve;
  std::vector<Isoflop> isoflops;
  std::optional<IsoflopLaw> isoflop_law;
  std::optional<ComputeLaw> compute_law;
  std::optional<RepetitionFit> repetition;
  std::optional<HoldOut> hold_out;
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;
};

/// Fits the runs of one system, apart from what is told at budgets. A fit whose coefficients are not finite is none: the
/// system then has no law, and is undetermined. DataError saying why runs are too few or too alike (of one size, of one
/// number of tokens) to have a law.
SystemFit fit_system(const std::string& system, const std::vector<ScalingRun>& runs,
                     const ScalingOptions& options);

/// The same of a law that is given.
SystemFit given_system(const std::string& system, const ScalingLaw& law, std::optional<double> xi);

/// N*, D*, L* at each budget; nothing without xi.
std::vector<AtBudget> at_budgets(const SystemFit& fit, const std::vector<double>& budgets);

/// How a line begins that says so.
constexpr const char* undetermined_law = "the runs do not determine the law";

/// Why the runs do not determine the law that was fitted to them, in one line; "" where nothing speaks against it. Looked at
/// are whether its coefficients are finite and its loss falls with both size and tokens, whether log N and log D rise
/// together (a correlation over 0.99: their terms cannot be told apart), whether fits of resamples from the whole grid come
/// to exponents that differ by more than a tenth, and whether more than one in a hundred resamples has no finite
/// coefficients or no best size.
std::string why_undetermined(const SystemFit& fit, const LogRuns& runs);

/// Says in `left_out` which of these intervals are missing though there are resamples.
struct NamedEstimate {
  const char* name;
  const Estimate& estimate;
};
void explain_missing_intervals(SystemFit& fit, const std::vector<NamedEstimate>& estimates);

}  // namespace weyl
