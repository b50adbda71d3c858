#include "weyl/saved/each_batch.h"

#include <limits>
#include <numeric>
#include <utility>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/carriers/loader.h"

namespace weyl {

std::vector<Batch> within_edges(const Model& model, const Batch& batch, const Schema& schema, int64_t most) {
  const auto* points = std::get_if<Points>(&batch.input);
  if (points == nullptr || points->count() < 2 || most == std::numeric_limits<int64_t>::max() ||
      (!points->cell.defined() &&
       points->graphs.pairs() <= most)) {  // to count edges is to look for neighbours
    return {batch};
  }
  const std::vector<int64_t> edges = model.edges(*points);
  if (std::accumulate(edges.begin(), edges.end(), int64_t{0}) <= most) {
    return {batch};
  }
  std::vector<Batch> parts;
  std::vector<int64_t> graphs;
  int64_t sum = 0;
  const auto finish = [&] {
    parts.push_back(take(batch, graphs, schema));
    graphs.clear();
    sum = 0;
  };
  for (size_t g = 0; g < edges.size(); ++g) {
    if (!graphs.empty() && sum + edges[g] > most) {
      finish();
    }
    graphs.push_back(static_cast<int64_t>(g));
    sum += edges[g];
  }
  finish();
  return parts;
}

int64_t each_batch(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                   Form form, const std::function<void(const Batch&)>& use) {
  LoaderOptions loading;
  loading.batch = options.batch;
  loading.batch_tokens = options.batch_tokens;
  loading.shuffle = false;
  loading.ahead = options.ahead;
  const bool as_read = form == Form::as_read && model.carrier() != Carrier::grid;
  loading.centre = as_read ? Centre::none : centre_of(model);
  loading.dtype = as_read ? at::kDouble : model.dtype();
  loading.device = form == Form::ready ? model.device() : at::Device(at::kCPU);
  const Schema schema = data->schema();
  Loader loader(std::move(data), loading, 0);
  loader.start(0);
  int64_t samples = 0;
  for (int64_t number = 0;; ++number) {
    std::optional<Batch> batch;
    try {
      batch = loader.next();
      if (!batch) {
        return samples;
      }
      for (const Batch& part : within_edges(model, *batch, schema, options.batch_edges)) {
        use(part);
      }
    } catch (const ShapeError& error) {
      blame_sample(options.where, error, loader.plan(0)[number],
                   [&](int64_t sample) { use(loader.alone(0, sample)); });
    }
    samples += batch->count();
    if (options.progress) {
      options.progress(samples);
    }
    if (options.stop && options.stop()) {
      return samples;
    }
  }
}

}  // namespace weyl
