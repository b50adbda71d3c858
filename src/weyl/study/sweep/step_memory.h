#pragma once

#include <string>

#include "weyl/study/sweep/timing.h"

namespace weyl {

/// Bytes that each sample of a step takes, on the CPU; gradients of the weights, which a step has once, are none of them.
double bytes_of_a_sample(Trained& trained, const TrainOptions& options);

/// The fewest batches that make a step of the memory that each job has; 1 where samples are counted in tokens.
int64_t batches_that_fit(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure);
/// What is to be said of a batch that is too large; nothing of one that fits.
std::string too_large_text(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure);

}  // namespace weyl
