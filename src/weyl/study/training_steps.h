#pragma once

#include <memory>

#include "weyl/carriers/loader.h"
#include "weyl/tasks/task.h"
#include "weyl/train/options.h"
#include "weyl/train/step_times.h"

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

}  // namespace weyl
