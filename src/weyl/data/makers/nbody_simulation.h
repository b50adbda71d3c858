#pragma once

#include <span>

#include "weyl/data/makers/nbody.h"

namespace weyl {

constexpr double kNbodyTimeStep = 0.001;

/// Frames of a simulation: the last one, at the end, is left out as in the original.
inline int64_t frames_of(const NbodyMakerOptions& o) {
  return o.steps / o.every - 1;
}

/// Simulations [first, first + count) of the stream, and where their results go.
struct NbodyJob {
  int64_t first = 0, count = 0;
  NbodyTrajectories result;
};

/// Runs jobs in the order of the stream (each begins where the one before ends, or later). False when
/// stopped.
bool run_nbody(const NbodyMakerOptions& options, std::span<NbodyJob> jobs, const JobHooks& hooks);

}  // namespace weyl
