#pragma once

#include "weyl/carriers/loader.h"
#include "weyl/models/model.h"
#include "weyl/train/each_batch.h"
#include "weyl/train/options.h"

namespace weyl {

/// How training reads its batches: size and augmentation from the options, device and dtype from the model.
LoaderOptions loader_options(const TrainOptions& options, const Model& model);

/// How validation and test read theirs: batches of the same size, as they are, in order; where training is on
/// crops, one whole sample at a time.
/// `where` is what errors call them.
BatchOptions evaluate_options(const TrainOptions& options, const std::string& where);

}  // namespace weyl
