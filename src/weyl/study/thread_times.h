#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/models/model.h"
#include "weyl/tasks/task.h"

namespace weyl {

/// A training step on the CPU with some numbers of threads, by the number.
struct ThreadTimes {
  int64_t threads = 1;                // that all else is timed with
  std::map<int64_t, double> step_ms;  // medians
  std::map<int64_t, double>
      of_threads;  // the same as a share of a step with `threads`, repeat by repeat: medians

  /// A number below `threads` whose steps are more than 5 % faster, the fastest of them; 0: there is none.
  int64_t fewer_and_faster() const;
};

/// Times a training step (as study/bench.h does: loss, gradients, an optimiser step of rate zero) with each of these
/// numbers of threads, interleaved, a few steps each: for about `seconds`, or once each where steps are long. The last
/// of `numbers` is the one that all else is timed with, and the engine has it again afterwards. Leaves the model in
/// evaluation mode, without gradients. ConfigError: no number, or one below 1.
ThreadTimes time_threads(Model& model, const Task* task, const Batch& batch, std::vector<int64_t> numbers,
                         double seconds = 6);

}  // namespace weyl
