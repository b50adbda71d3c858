#pragma once

#include <string>
#include <vector>

#include "weyl/study/scaling/system_fit.h"

namespace weyl {

/// Two systems at equal budgets: `system` is the one with the lower loss in the middle of them.
struct SystemRatio {
  struct Point {
    double budget = 0;
    Estimate loss;  // L*_other(C) / L*_system(C)
    Estimate
        compute;  // C' / C with L*_other(C') = L*_system(C); unknown where the other never comes to that loss
  };
  std::string system, other;
  std::vector<Point> budgets, curve;
  std::vector<LeftOut> left_out;  // budgets whose loss the other never comes to, or not in all resamples
};

/// Of each two systems whose losses over compute are known; resample i of one is set beside resample i of the other,
/// which are independent.
std::vector<SystemRatio> ratios_of(const std::vector<SystemFit>& systems, const std::vector<double>& budgets,
                                   const std::vector<double>& curve);

}  // namespace weyl
