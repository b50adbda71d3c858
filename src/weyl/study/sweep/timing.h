#pragma once

#include <functional>
#include <memory>
#include <string>

#include "weyl/study/sweep/measure.h"
#include "weyl/tasks/task.h"
#include "weyl/train/options.h"

namespace weyl {

/// A model in training, with what it is trained on.
struct Trained {
  std::shared_ptr<Model> model;
  std::shared_ptr<Task> task;  // null: the loss is the mean square of the outputs
  std::shared_ptr<const Dataset> train, valid, test;
};

/// So many samples from all over a set: to open a large one anew for each model would take longer than its steps.
std::shared_ptr<const Dataset> some_of(const std::shared_ptr<const Dataset>& data, int64_t most);

/// Of all samples.
double tokens_of(const Dataset& data);
/// Of a sample as training counts it: typical, or of a part of one (train.crop).
double tokens_of_a_sample(const Model& model, TrainOptions options);

int64_t threads_of(const Trained& t, const TrainOptions& options, const MeasureOptions& measure);

/// What is known of a cost before anything is timed, but for the tokens of an epoch.
void fill_facts(const Trained& t, const TrainOptions& options, ModelCost& cost);

struct OfASample {
  double bytes = 0;            // that a step on it takes; 0: not known
  double forward_seconds = 0;  // of random tokens, whole
};

/// Fills in the seconds of a step, times `scale`, of a validation and of the test, and `accumulate`, of what `make`
/// makes, while other such trainings run beside it.
OfASample time(const std::function<Trained()>& make, TrainOptions options, const MeasureOptions& measure,
               double scale, ModelCost& cost);

/// Bytes that each sample of a step takes, on the CPU; gradients of the weights, which a step has once, are none of them.
double bytes_of_a_sample(Trained& trained, const TrainOptions& options);

/// The fewest batches that make a step of the memory that each job has; 1 where samples are counted in tokens.
int64_t batches_that_fit(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure);
/// What is to be said of a batch that is too large; nothing of one that fits.
std::string too_large_text(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure);

}  // namespace weyl
