#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/study/scaling/law.h"
#include "weyl/study/scaling/tables.h"

namespace weyl {

/// The published laws (Brehmer et al. 2024, eq. 6 and 7) and their FLOPs per parameter and token.
struct PublishedLaw {
  const char* system;
  ScalingLaw law;
  double xi;
};
inline const PublishedLaw baseline{"baseline", {1.27, 0.909, 0.202, 0.379, 0}, 6};
inline const PublishedLaw equivariant{"equivariant", {2.82e-4, 0.348, 469, 0.734, 0}, 61.2};

/// Runs as a study of a law would have them: seven budgets from 1e16 to 1e19, nine sizes at each from an eighth to eight
/// times the best, losses off by noise of this standard deviation in the logarithm.
inline std::vector<ScalingRun> paper_runs(const PublishedLaw& published, double noise, uint64_t seed) {
  Stream stream(seed, std::string("noise of ") + published.system);
  const Frontier frontier = frontier_of(published.law, published.xi);
  std::vector<ScalingRun> runs;
  for (int budget = 0; budget < 7; ++budget) {
    const double flops = 1e16 * std::pow(10, 0.5 * budget);
    for (int size = -4; size <= 4; ++size) {
      ScalingRun run;
      run.system = published.system;
      run.parameters = std::round(frontier.parameters(flops) * std::pow(2, 0.75 * size));
      run.tokens = std::round(flops / (published.xi * run.parameters));
      run.flops = published.xi * run.parameters * run.tokens;
      run.loss = published.law.loss(run.parameters, run.tokens) * std::exp(noise * stream.normal());
      runs.push_back(run);
    }
  }
  return runs;
}

}  // namespace weyl
