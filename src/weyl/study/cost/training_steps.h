#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "weyl/carriers/batch.h"
#include "weyl/carriers/loader.h"
#include "weyl/models/model.h"
#include "weyl/tasks/task.h"
#include "weyl/train/options.h"
#include "weyl/train/run/step_times.h"

namespace weyl {

/// The task's loss on a batch, or without a task the mean square of all outputs. A scalar in the model's
/// dtype.
Tensor loss_of(Model& model, const Task* task, const Batch& batch);

/// The next batch of a loader that has begun an epoch; after an epoch's last one the next epoch begins, so that its
/// batches are made ahead.
Batch next_batch(Loader& loader);

/// Where the time of training steps goes: batches of `data` as training draws and augments them (made ahead
/// by the loader's thread), loss, gradients, an optimiser step of rate zero, and a row in a journal after
/// every `log_every_steps` steps and at the end. The journal is written to a temporary folder. Weights stay;
/// the first step is not counted. A device is waited for at the end of each part, so that parts add up to more than
/// a step that overlaps them. Leaves the model in evaluation mode, without gradients. ConfigError:
/// steps < 1; DataError: no room for the journal.
StepTimes time_training_steps(Model& model, const Task* task, std::shared_ptr<const Dataset> data,
                              const TrainOptions& options, int64_t steps);

/// A training step on the CPU with some numbers of threads, by the number.
struct ThreadTimes {
  int64_t threads = 1;                // that all else is timed with
  std::map<int64_t, double> step_ms;  // medians
  std::map<int64_t, double>
      of_threads;  // the same as a share of a step with `threads`, repeat by repeat: medians

  /// A number below `threads` whose steps are more than 5 % faster, the fastest of them; 0: there is none.
  int64_t fewer_and_faster() const;
};

/// Times a training step (as study/cost/bench.h does: loss, gradients, an optimiser step of rate zero) with each of these
/// numbers of threads, interleaved, a few steps each: for about `seconds`, or once each where steps are long. The last
/// of `numbers` is the one that all else is timed with, and the engine has it again afterwards. Leaves the model in
/// evaluation mode, without gradients. ConfigError: no number, or one below 1.
ThreadTimes time_threads(Model& model, const Task* task, const Batch& batch, std::vector<int64_t> numbers,
                         double seconds = 6);

}  // namespace weyl
