#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weyl/carriers/dataset.h"
#include "weyl/models/model.h"
#include "weyl/parallel/ranks.h"

namespace weyl {

/// How a data set goes through a model in evaluation. A batch has at most `batch` samples, `batch_tokens` tokens and
/// `batch_edges` edges; a sample with more tokens or edges goes alone.
struct BatchOptions {
  int64_t batch = 32;
  std::optional<int64_t> batch_tokens;
  int64_t batch_edges = std::numeric_limits<int64_t>::max();  // as the model counts them (Model::edges)
  int64_t ahead = 2;                                          // batches that a thread makes in advance
  std::function<void(int64_t)> progress;                      // samples done, after each batch
  std::function<bool()> stop;                                 // asked after each batch
  bool by_sample = false;                                     // `evaluate`: the metrics of each sample, too
  std::string where = "data";                                 // what errors call the data set
  /// Processes that share the batches, which are those of one process: each rank has every so many-th. Null: this one alone.
  std::shared_ptr<Ranks> ranks;
  /// What ranks do where they meet, every so many batches, so that none waits for long at the end: unset, nothing more.
  std::function<void()> at_meetings;
};

/// To be called by all ranks at the same places.
void meet(const BatchOptions& options);

/// Divides a batch into consecutive parts whose graphs have at most `most` edges together, as the model counts them. A
/// graph with more edges is a part of its own.
std::vector<Batch> within_edges(const Model& model, const Batch& batch, const Schema& schema, int64_t most);

/// The form in which `each_batch` gives samples.
enum class Form {
  ready,  // as the model takes them: in its dtype, on its device, and near the origin where the model is exact
          // under translations
  ready_on_cpu,  // the same, on the CPU
  as_read        // on the CPU; points and poses in float64, at their own places; grids in the model's dtype
};

/// Gives `use` the samples of a set in its order, batch by batch; never holds more than a few batches. Returns how many
/// samples were used: fewer than all when stopped. A ShapeError becomes a DataError that names the sample, which `use`
/// has then been given a second time.
/// With ranks each is given its own batches, and their samples are counted; ShapeError: there is a `stop`.
int64_t each_batch(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                   Form form, const std::function<void(const Batch&)>& use);

/// Calls `predict` with the samples of a set as each_batch does, and the number of the first of them in the set; gives `use` what it
/// said, in the set's order. With ranks `predict` is called by the rank that has the batch, and `use` by the first rank alone, with
/// tensors on the CPU, those of one rank after the other; all stop together. Returns how many samples of all ranks were used.
using Predict = std::function<Named(const Batch&, int64_t first)>;
int64_t each_predicted(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                       Form form, const Predict& predict, const std::function<void(const Named&)>& use);

}  // namespace weyl
