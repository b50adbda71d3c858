#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "weyl/study/scaling/law.h"

namespace weyl {

/// Runs as a fit sees them: natural logarithms, and how often each counts (0: not at all; resamples count some runs
/// twice). All of one length.
struct LogRuns {
  std::vector<double> parameters, tokens, loss, weight;
  std::vector<double>
      epochs;  // passes over the data beyond the first (0: none); empty: tokens are taken as they are

  size_t size() const { return loss.size(); }
  double total_weight() const;
  /// For each run the first of the same parameters, tokens and epochs: to a fit, runs of one point are one.
  std::vector<size_t> points() const;
  size_t different_points() const;
};

/// Which coefficients a fit moves, and the width of its Huber loss.
struct FitForm {
  bool free_E = false;  // else E = 0
  bool repetition =
      false;  // tokens are effective ones, with a half-life R of repetition (needs LogRuns::epochs)
  double delta = 1e-3;
  bool one_term = false;  // A N^-alpha + E alone, where N stands for what the loss falls with (compute, say)

  size_t place_of_E() const { return one_term ? 2 : 4; }
  size_t place_of_R() const { return place_of_E() + (free_E ? 1 : 0); }
  size_t coefficients() const { return place_of_R() + (repetition ? 1 : 0); }
  bool operator==(const FitForm&) const = default;
};

/// Coefficients as the minimiser moves them:
///
///     u = log A - alpha n0,  alpha,  [v = log B - beta d0,  beta],  [log E],  [log R]
///
/// with n0, d0 the mean log N and log D, so that heights and slopes of the two terms do not pull at one another.
constexpr size_t most_coefficients = 6;
using Coefficients = std::array<double, most_coefficients>;

struct FittedLaw {
  ScalingLaw law;
  double R = 0;  // of the repetition form
};

/// The mean over runs of Huber_delta(log L(N_i, D_i) - log L_i) / delta (Huber 1964; eq. 3 of the paper) and its
/// gradient. log L is a log-sum-exp of the terms, so no start overflows. With repetition the tokens are effective ones,
///
///     D' = U + U R (1 - exp(-r / R)),  r = D / U - 1 passes beyond the first     (Muennighoff et al. 2023)
///
/// where LogRuns::tokens is log U for r > 0.
class Objective {
 public:
  Objective(const LogRuns& runs, const FitForm& form);

  double value(std::span<const double> x, std::span<double> gradient) const;

  /// log L predicted of run i.
  double predicted(std::span<const double> x, size_t i) const;

  FittedLaw law_at(std::span<const double> x) const;
  Coefficients at_law(const FittedLaw& fitted) const;

  const FitForm& form() const { return form_; }
  const LogRuns& runs() const { return runs_; }

 private:
  struct Terms {
    double log_loss, by_parameters, by_tokens, by_E, tokens, tokens_by_R;
  };
  Terms terms(std::span<const double> x, size_t i) const;

  const LogRuns& runs_;
  FitForm form_;
  double n0_ = 0, d0_ = 0, weight_ = 0;
};

/// Where a descent ended.
struct Minimum {
  Coefficients x{};
  double value = 0;
};

/// How far a descent goes: until its value hardly changes, or until it is told which valley it is in.
enum class Descent { whole, coarse };

/// Descends from a start by L-BFGS (Liu & Nocedal 1989; liblbfgs). The Huber loss of a small delta has kinks, at which a
/// line search ends early: the descent begins there again until that gains nothing.
Minimum descend(const Objective& objective, const Coefficients& start, Descent descent = Descent::whole);

/// The lowest end of descents from each start. NaN as its value when none came to a finite one.
Minimum lowest(const Objective& objective, const std::vector<Coefficients>& starts);

/// The grid of starts of Hoffmann et al. (2022), in log A, log B, alpha, beta and log E beside the lowest log loss,
/// extended below log A = 0 and log B = 0 for losses that are small: A may be 1e-4.
/// log A, log B in {-10, -5, ..., 25}, alpha, beta in {0, 0.5, ..., 2}, log E - min log L in {-1, -0.5, ..., 1}; of a
/// repetition R in {1, 5, 25}.
std::vector<Coefficients> grid_of_starts(const Objective& objective);

/// The `most` lowest minima that predict other losses than one another (by 1e-4 for some run), the lowest first: every start
/// descends coarsely, the lowest 24 and the lowest of the next 24 valleys to their ends. ShapeError when no start came to a finite value.
std::vector<Minimum> best_minima(const Objective& objective, const std::vector<Coefficients>& starts,
                                 size_t most, int64_t threads);

}  // namespace weyl
