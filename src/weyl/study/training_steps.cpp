#include "weyl/study/training_steps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/study/device.h"
#include "weyl/train/accumulate.h"
#include "weyl/train/journal.h"
#include "weyl/train/loading.h"
#include "weyl/train/optimiser.h"

namespace weyl {

Batch next_batch(Loader& loader) {
  Batch batch = *loader.next();
  if (loader.position() == loader.batches()) {
    loader.start(loader.epoch() + 1);
  }
  return batch;
}

Tensor loss_of(Model& model, const Task* task, const Batch& batch) {
  if (task != nullptr) {
    return task->step(model, batch).loss;
  }
  Tensor loss = at::zeros({}, at::TensorOptions().dtype(model.dtype()).device(model.device()));
  for (const auto& [name, y] : model(batch.input)) {
    loss = loss + (y * y).mean();
  }
  return loss;
}

StepTimes time_training_steps(Model& model, const Task* task, std::shared_ptr<const Dataset> data,
                              const TrainOptions& options, int64_t steps) {
  require<ConfigError>(steps >= 1, "bench: steps must be at least 1, got ", steps);
  require<DataError>(data->size() > 0, "bench: the data set must have samples, got none");
  const TemporaryFolder folder("bench");
  Journal journal(folder.path(), {});
  Loader loader(std::move(data), loader_options(options, model, task), static_cast<uint64_t>(options.seed));
  Optimiser optimiser(model.parameters(), options.optimiser);
  const at::Device device = model.device();
  loader.start(0);
  model.train(true);

  StepTimes times;
  double losses = 0;
  for (int64_t step = 0; step <= steps; ++step) {
    if (step == 1) {  // the one before made the optimiser's state and warmed the caches
      times = {};
    }
    Batch batch;
    {
      const Timed timed(times.batch);
      batch = next_batch(loader);
      synchronise(device);
    }
    Tensor loss;
    {
      const Timed timed(times.forward);
      loss = loss_of(model, task, batch);
      losses += loss.item<double>();
    }
    {
      const Timed timed(times.backward);
      add_gradients(loss, model);
      synchronise(device);
    }
    double norm = 0;
    {
      const Timed timed(times.optimiser);
      norm = optimiser.clip_gradients();
      optimiser.step(/*factor=*/0);
      optimiser.clear_gradients();
      synchronise(device);
    }
    const Timed timed(times.logging);
    if (step == steps || (step + 1) % options.log_every_steps == 0) {
      journal.record(
          {.step = step, .epoch = 0, .rate = 0, .loss = losses, .gradient_norm = norm, .valid = {}});
      journal.record_times(step, 0, times);
    }
    ++times.steps;
  }
  model.train(false);
  return times;
}

}  // namespace weyl
