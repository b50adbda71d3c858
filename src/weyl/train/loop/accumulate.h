#pragma once

#include <span>
#include <vector>

#include "weyl/tasks/task.h"
#include "weyl/train/loop/gradient_sums.h"
#include "weyl/train/options.h"
#include "weyl/train/run/step_times.h"

namespace weyl {

/// Adds to the parameters' gradients those of a loss. By the parameters alone: of a loss that holds forces
/// nothing is differentiated a second time by positions.
void add_gradients(const Tensor& loss, const Model& model);

/// Adds to the parameters' gradients those of the loss of some batches, one at least, as if they were one batch: each term of
/// each batch counts by its share (Task::loss_weights). Returns that loss, () float64, on the model's device, for
/// which nothing waits. With `ranks` the batches of all of them are that one batch, of which a rank may have none; gradients,
/// which must be clear before, and the loss are then the same everywhere. Batches that are `counted` no stand for parts that
/// have no sample, where norms are over the batch of all ranks (nn/shared_batch.h): they are computed and add nothing; empty: all
/// count, and norms are of this process. Of the options precision and tf32 are used: with bf16, matrix products run in bf16 under CUDA's
/// autocast (weights, norms and sums stay float32). Forward (with the loss) and backward are timed.
Tensor accumulate_gradients(Model& model, const Task& task, std::span<const Batch> batches,
                            const TrainOptions& options, StepTimes& times, GradientSums* ranks = nullptr,
                            const std::vector<bool>& counted = {});

}  // namespace weyl
