#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "weyl/study/scaling/objective.h"

namespace weyl {

/// A number that was fitted, and its 95 % interval. NaN: not known.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
};

/// How a quantity is spread: exponents about themselves, what is positive and may be a power of ten off (A, N*, a ratio)
/// in its logarithm.
enum class Spread { plain, logarithmic };

/// The basic bootstrap interval [2 q - q(97.5 %), 2 q - q(2.5 %)] of a value from those of resamples; of a logarithmic
/// spread in logarithms. No interval without resamples, when more than one in a hundred has no finite value, or where an end
/// would not be finite.
Estimate basic_interval(double value, std::vector<double> resampled, Spread spread);

/// A form that was tried, and the mean |log L - log L_i| of the runs that its fits had not seen.
struct TriedForm {
  FitForm form;
  double error = 0;
};

/// The law of some runs.
struct PointFit {
  FitForm form;
  std::vector<Minimum> minima;  // three at most, the lowest first: where resamples start
  FittedLaw fitted;             // the lowest
  std::vector<TriedForm> tried;
  double mean_residual = 0, worst_residual = 0;  // |log L - log L_i| over the runs
};

/// Fits from the whole grid of starts. Without `form` that is chosen by leave-one-out: E in {0, free} (free needs six
/// different points) and delta in {1e-1, 1e-2, 1e-3, 1e-4}. Each left-out run (of more than 200, every n-th) is predicted by the lowest
/// of descents from the form's three best minima of all runs, which come from the whole grid at delta = 0.1 and go on at
/// their own. The first is E = 0, delta = 0.1; another takes its place only where the mean error falls by more than two
/// standard errors of the difference: an E or a delta that chance prefers would cost width and coverage of intervals.
PointFit fit_law(const LogRuns& runs, const std::optional<FitForm>& form, int64_t threads);

/// Fits the form from these starts.
PointFit fit_from(const LogRuns& runs, const FitForm& form, const std::vector<Coefficients>& starts,
                  int64_t threads);

/// How the descents of resamples compare with descents of the same resamples from the whole grid.
struct GridCheck {
  int64_t resamples = 0;
  double worst = 0;  // largest relative difference of alpha or beta
};

/// Resamples of the runs, with replacement, each fitted from the point fit's best minima. A pure function of seed and
/// name, whatever the threads: resample i is drawn from Stream(seed, name, {i}). One with fewer different
/// points (N, D) than coefficients determines nothing and is drawn again.
struct Bootstrap {
  int64_t count = 10'000;
  uint64_t seed = 0;
  std::string_view name;
  int64_t threads = 0;
};
std::vector<FittedLaw> resampled_laws(const LogRuns& runs, const PointFit& fit, const Bootstrap& bootstrap);

/// Fits the first `count` resamples from the whole grid too.
GridCheck check_by_grid(const LogRuns& runs, const PointFit& fit, const Bootstrap& bootstrap, int64_t count);

}  // namespace weyl
