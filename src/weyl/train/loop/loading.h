#pragma once

#include "weyl/carriers/loader.h"
#include "weyl/models/model.h"
#include "weyl/saved/each_batch.h"
#include "weyl/tasks/task.h"
#include "weyl/train/options.h"

namespace weyl {

/// How training reads its batches: size and augmentation from the options, device and dtype from the model. For a device
/// other than the CPU `task`, which must live as long as the loader, prepares them.
LoaderOptions loader_options(const TrainOptions& options, const Model& model, const Task* task = nullptr);

/// A line where the motions of train.augment change nothing, because the model is exact under all of them; else empty.
std::string note_on_augmentation(const TrainOptions& options, const Model& model);

/// How validation and test read theirs: batches of the same size, as they are, in order; where training is on
/// crops, one whole sample at a time.
/// `where` is what errors call them.
BatchOptions evaluate_options(const TrainOptions& options, const std::string& where);

}  // namespace weyl
