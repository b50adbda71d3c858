#pragma once

#include <span>

#include "weyl/carriers/loader.h"
#include "weyl/models/model.h"
#include "weyl/saved/each_batch.h"
#include "weyl/tasks/task.h"
#include "weyl/train/options.h"

namespace weyl {

/// How training reads its batches: size and augmentation from the options, device and dtype from the model. For a device
/// other than the CPU `task`, which must live as long as the loader, prepares them.
LoaderOptions loader_options(const TrainOptions& options, const Model& model, const Task* task = nullptr);

/// What the samples `samples` of a set cost, by which ranks share a batch: the operations of the model's forward pass on a graph of
/// as many tokens; their tokens alone where it looks no farther than a cut-off (Model::reach), since how many pairs lie within
/// that is known only of samples that were read. Null: crops of one size, which cost 1 each.
std::vector<int64_t> work_of(std::span<const int64_t> samples, const Dataset& data, const Model* model);

/// A line where the motions of train.augment change nothing, because the model is exact under all of them; else empty.
std::string note_on_augmentation(const TrainOptions& options, const Model& model);

/// How validation and test read theirs: batches of the same size, as they are, in order; where training is on
/// crops, one whole sample at a time.
/// `where` is what errors call them.
BatchOptions evaluate_options(const TrainOptions& options, const std::string& where);

}  // namespace weyl
