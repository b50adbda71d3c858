#include "weyl/study/sweep/step_memory.h"

#include <algorithm>
#include <cmath>

#include "weyl/carriers/loader.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/study/allocation_peak.h"
#include "weyl/study/training_steps.h"
#include "weyl/train/accumulate.h"
#include "weyl/train/loading.h"

namespace weyl {
namespace {

/// Bytes that each of the jobs may take; without bound where that is not known.
double room_of(const MeasureOptions& measure) {
  return measure.device.is_cpu() ? 0.8 * measure.memory.value_or(static_cast<double>(available_memory())) /
                                       static_cast<double>(measure.jobs)
                                 : HUGE_VAL;
}

std::string megabytes(double bytes) {
  return std::to_string(static_cast<int64_t>(std::ceil(bytes / 1e6)));
}

}  // namespace

double bytes_of_a_sample(Trained& trained, const TrainOptions& options) {
  const Loader loader(trained.train, loader_options(options, *trained.model, trained.task.get()), 0);
  const Batch batch = loader.alone(0, 0);  // by this thread, which alone is followed
  trained.model->train(true);
  const AllocationPeak peak;
  const Tensor loss = loss_of(*trained.model, trained.task.get(), batch);
  const auto forward = static_cast<double>(peak.bytes());
  add_gradients(loss, *trained.model);
  const auto whole = static_cast<double>(peak.bytes());
  double gradients = 0;
  for (const Parameter& p : trained.model->parameters()) {
    gradients += p.tensor.grad().defined() ? static_cast<double>(p.tensor.grad().nbytes()) : 0;
    p.tensor.mutable_grad() = Tensor();
  }
  return std::max(forward, whole - gradients);
}

int64_t batches_that_fit(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure) {
  const double room = room_of(measure);
  int64_t accumulate = 1;
  if (options.batch_tokens) {
    return 1;
  }
  while (accumulate < options.batch &&
         bytes_a_sample * std::ceil(static_cast<double>(options.batch) / static_cast<double>(accumulate)) >
             room) {
    ++accumulate;
  }
  return accumulate;
}

std::string too_large_text(const TrainOptions& options, double bytes_a_sample,
                           const MeasureOptions& measure) {
  const double room = room_of(measure);
  if (!options.batch_tokens && bytes_a_sample > room) {
    return text("a step on one sample takes ", megabytes(bytes_a_sample),
                " MB of memory, and a job may take ", megabytes(room), " MB: `scale run` will not get far");
  }
  const int64_t parts = batches_that_fit(options, bytes_a_sample, measure);
  return parts == 1
             ? ""
             : text("a batch of ", options.batch,
                    " does not fit into memory: timed with train.batch=", (options.batch + parts - 1) / parts,
                    " train.accumulate=", parts * options.accumulate,
                    ", which `scale run` takes only where the sweep file sets them");
}

}  // namespace weyl
