#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "weyl/core/jobs.h"

namespace weyl {

/// What a maker is about to do, told from its options alone.
struct MakerPlan {
  std::string what;                                     // "simulations of 5 particles"
  std::vector<std::pair<std::string, int64_t>> counts;  // how many, by split, or `count` without splits
  /// Makes them in a folder. False when stopped.
  std::function<bool(const std::string& folder, const JobHooks& hooks)> make;
  bool goes_on = false;  // when asked for the same again after a stop; else a stop leaves nothing behind
};

}  // namespace weyl
