#pragma once

#include <functional>
#include <span>
#include <string>

#include "weyl/tasks/task.h"
#include "weyl/train/options.h"

namespace weyl {

/// Why a step's loss or gradient is not finite.
struct Overflow {
  std::string why;          // in words, of one line
  bool of_samples = false;  // single samples are at fault: not the weights
};

/// What a training hands over of the step: its samples by index, a function that gives one of them (or of `others`, a
/// few that were not in the step) as the step had it, the set that they are of, and the parameters that a step changes
/// by itself as they were before it.
struct FailedStep {
  const Dataset* data = nullptr;
  std::span<const int64_t> samples, others;
  std::function<Batch(int64_t sample)> alone;
  const NamedTensors* statistics = nullptr;
  bool learned = false;  // each sample was in a step before, after which the weights were finite
};

/// Evaluates the samples of a failed step one by one with the weights that it began with, in evaluation mode: loss,
/// gradient, predictions.
///
///   some are finite, others not      the others are at fault, and named with their largest label and prediction
///   none is finite, but `others` are the same: the weights are sound
///   all are finite, their sum is not the samples with a loss a million times the median one, if there are any
///   none is finite, nor `others`     labels of the whole set whose squares float32 does not hold, which spoil
///                                    statistics that every sample is measured by; without any the weights have
///                                    diverged, and so they have where more than half of at least eight samples fail
///                                    though their labels are like the others'
///
/// Where the labels of those at fault are like the others' (within a million times), the weights have diverged all the
/// same if these samples were learned before, which they were finite for, or if sound samples are predicted far beyond their
/// labels (30 times the largest): a sample then has only come first.
///
/// Clears the gradients and leaves the model in training mode. At most 1024 samples are tried.
Overflow explain_overflow(Model& model, const Task& task, const FailedStep& step,
                          const TrainOptions& options);

/// The labels of a set whose squares float32 does not hold (beyond 1e18, infinite), counted, and the first of them named, in
/// one line; empty: there are none.
std::string labels_beyond(const Dataset& data, std::span<const Quantity> labels);

}  // namespace weyl
