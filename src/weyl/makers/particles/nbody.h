#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weyl/config/fields.h"
#include "weyl/makers/plan.h"

namespace weyl {

/// Charged particles in free space: the generator of the EGNN benchmark, number for number. Unit masses and
/// charges +-1, a_i = sum_j c_i c_j (x_i - x_j) / |x_i - x_j|^3 with every component clipped to +-100, time step
/// 0.001, kick then drift; every `every`-th step is a frame, frame k being step every (k + 1). One stream of
/// random numbers (MT19937, numpy's legacy draws) runs through all simulations: 0 .. 9,999 are for training,
/// 10,000 .. 11,999 for validation, 12,000 onwards for testing, whatever the sizes asked for.
struct NbodyMakerOptions {
  static constexpr const char* name_in_config = "nbody";
  static constexpr const char* makes =
      "charged particles in free space, as trajectories (the EGNN benchmark)";
  int64_t particles = 5;
  int64_t train = 3000;
  int64_t valid = 2000;
  int64_t test = 2000;
  int64_t seed = 43;
  int64_t steps = 5000;  // of 0.001 time units each
  int64_t every = 100;   // steps between frames
  double speed = 0.5;    // of every particle at the start
  int64_t threads = 0;   // 0: one per core
};
void fields(Fields& f, NbodyMakerOptions& o);
MakerPlan plan_of(const NbodyMakerOptions& o);

/// Simulations one after the other, row-major: positions and velocities (S, F, n, 3), charges (S, n).
struct NbodyTrajectories {
  int64_t simulations = 0, frames = 0, particles = 0;
  std::vector<double> positions, velocities, charges;
};

/// Simulations [first, first + count) of the stream, in parallel. Empty `positions` when stopped. DataError
/// when a trajectory is not finite. ConfigError: steps not a multiple of every, or fewer than two frames'
/// worth.
NbodyTrajectories simulate_nbody(const NbodyMakerOptions& options, int64_t first, int64_t count,
                                 const JobHooks& hooks = {});

/// Makes train, valid and test (those of nonzero size) and writes `<folder>/<split>.safetensors`, each with
/// positions, velocities, charges and its provenance and units as metadata. Nothing is written before all is
/// simulated; files that are there already are never replaced (ConfigError), and when one cannot be written
/// (DataError) none of the new ones is left. False when stopped: then nothing was written.
bool make_nbody(const NbodyMakerOptions& options, const std::string& folder, const JobHooks& hooks = {});

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
