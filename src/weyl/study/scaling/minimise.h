#pragma once

#include <cstdint>
#include <vector>

#include "weyl/study/scaling/objective.h"

namespace weyl {

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
