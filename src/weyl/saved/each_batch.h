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

namespace weyl {

/// How a set goes through a model in evaluation: at most so many samples, tokens (a larger sample goes alone) and
/// edges at once.
struct BatchOptions {
  int64_t batch = 32;
  std::optional<int64_t> batch_tokens;
  int64_t batch_edges = std::numeric_limits<int64_t>::max();  // as the model counts them (Model::edges)
  int64_t ahead = 2;                                          // batches made in advance by a thread
  std::function<void(int64_t)> progress;                      // samples done, after each batch
  std::function<bool()> stop;                                 // asked after each batch
  std::string where = "data";                                 // what errors call the data set
};

/// A batch in consecutive parts whose graphs have at most `most` edges together, as the model counts them; a graph
/// with more goes alone.
std::vector<Batch> within_edges(const Model& model, const Batch& batch, const Schema& schema, int64_t most);

/// In which form `each_batch` gives samples.
enum class Form {
  ready,  // as the model takes them: near the origin where it is exact under translations, in its dtype, on its
          // device
  ready_on_cpu,  // the same, on the CPU
  as_read        // of points and poses float64, where they are; grids in the model's dtype; on the CPU
};

/// Gives `use` the samples of a set in its order, batch by batch; never holds more than a few batches. Returns how many samples were used: fewer than there are when
/// stopped. A ShapeError becomes a DataError that names the sample; `use` has then seen it once more.
int64_t each_batch(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                   Form form, const std::function<void(const Batch&)>& use);

}  // namespace weyl
