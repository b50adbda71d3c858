#pragma once

#include <array>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "weyl/study/scaling/tables.h"

namespace weyl {

/// Where the lowest loss of a budget lies among the sizes tried.
enum class MinimumKind {
  inside,     // between the smallest and the largest: measured
  smallest,   // at the smallest: the best size is at most this one, a bound
  largest,    // at the largest: at least this one, a bound
  few_sizes,  // fewer than three sizes: nothing is known
  not_clear   // the lowest loss is between them, but the parabola has no valley there: noise
};
const char* name_of(MinimumKind kind);

/// The runs of one size: their number, geometric means of tokens, losses and flops.
struct IsoflopPoint {
  double parameters = 0, tokens = 0, loss = 0;
  int64_t runs = 0;
  double flops = std::numeric_limits<double>::quiet_NaN();  // NaN: not known
};

/// Runs of equal budget, by size.
struct Isoflop {
  double budget = 0;                                        // of the column, else the geometric mean of flops
  double flops = std::numeric_limits<double>::quiet_NaN();  // geometric mean; NaN: not known
  std::vector<IsoflopPoint> points;                         // by rising size
  int64_t repeated_aside =
      0;  // runs that saw their data again, at sizes that have runs which did not: not in points
  MinimumKind kind = MinimumKind::few_sizes;
  /// Inside: the vertex of a parabola, by least squares, of log loss in log N (Hoffmann et al. 2022, approach 2).
  /// At an edge: the point there.
  std::optional<IsoflopPoint> minimum;
  std::optional<std::array<double, 3>> parabola;  // ln L = c0 + c1 x + c2 x^2, x = ln N
};

/// Groups the runs of one system by `budget`; where that is not given, by flops (or xi N D), a gap of more than 25 %
/// ending a group, and runs that lie so close over more than a factor 1.5 being cut apart and no isoflop. Runs of which
/// neither is known are in none. By rising budget.
std::vector<Isoflop> isoflops_of(std::span<const ScalingRun> runs, std::optional<double> xi);

/// The flops of a run: its own, else xi N D, else NaN.
double flops_of(const ScalingRun& run, std::optional<double> xi);

/// How the best size grows: the slope of ln N over ln C through the minima that are inside; of fewer than three, none.
struct IsoflopLaw {
  double a = 0, b = 0;  // N* ~ C^a, D* ~ C^b
  int64_t minima = 0;
};
std::optional<IsoflopLaw> law_of_minima(std::span<const Isoflop> isoflops);

/// The runs of each group, as indices into `runs`, by rising budget.
struct BudgetGroup {
  double budget = 0, flops = 0;
  std::vector<size_t> runs;
  bool by_flops = false;  // the runs say no budget
  bool cut = false;       // of a chain of like flops that is too long for one budget: none
};
std::vector<BudgetGroup> budget_groups(std::span<const ScalingRun> runs, std::optional<double> xi);

/// Of the runs that are grouped by flops, how many are in a group of three sizes that is not cut, and how many there are.
struct GridOfBudgets {
  int64_t inside = 0, runs = 0;
  /// At least half of them: the runs were made budget by budget. So are those that say their budgets.
  bool holds() const { return 2 * inside >= runs; }
};
GridOfBudgets grid_of(std::span<const ScalingRun> runs, const std::vector<BudgetGroup>& groups);

}  // namespace weyl
