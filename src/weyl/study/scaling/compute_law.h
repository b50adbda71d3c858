#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "weyl/study/scaling/isoflops.h"
#include "weyl/study/scaling/point_fit.h"

namespace weyl {

/// Loss over compute alone, L = F C^-gamma + E, through the lowest loss of each budget, whatever size it took. It says
/// what these runs came to, not what the best size would: a size that was not tried is not in it.
struct ComputeLaw {
  struct Point {
    double flops = 0, loss = 0;
  };
  Estimate F, gamma, E;
  std::vector<Point> frontier;
  bool envelope = false;    // the frontier is of single runs, not of budgets
  std::string no_interval;  // why there is none though resamples were asked for; else ""
};

/// Huber loss of log losses as in a fit of the law; E is free where `form` has it so and there are four budgets. The
/// resamples draw points of the frontier with replacement, so that the width is that of their scatter about the law; of
/// fewer than three points beyond the coefficients there is no interval. Nothing of fewer than three budgets.
/// Of runs that are not on a grid of budgets (isoflops.h) the frontier is the lower envelope: those whose loss no run of as
/// much compute or less comes to.
std::optional<ComputeLaw> compute_law_of(std::span<const ScalingRun> runs, std::optional<double> xi,
                                         const FitForm& form, const Bootstrap& bootstrap);

}  // namespace weyl
