#include "weyl/saved/each_batch.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "weyl/carriers/faulty_sample.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/parallel/message.h"

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

namespace {

// Batches of each rank between meetings: at the end of a large set none must wait for longer than ranks wait for one another.
constexpr int64_t kBetweenMeetings = 32;

/// A set's batches in their order, as a model takes them.
class SetBatches {
 public:
  using Use = std::function<void(const Batch&, int64_t first)>;

  SetBatches(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options, Form form)
      : model_(model),
        options_(options),
        schema_(data->schema()),
        loader_(loader(model, std::move(data), options, form)) {
    loader_.start(0);
  }

  int64_t count() const { return loader_.batches(); }
  /// Gives `use` the parts of the next batch with the numbers of their first samples. Returns its samples: none where it is
  /// another rank's.
  int64_t next(const Use& use) {
    const int64_t number = loader_.position();
    std::optional<Batch> batch;
    try {
      batch = loader_.next();
      if (batch->count() == 0) {
        return 0;
      }
      int64_t first = loader_.samples(number).front();
      for (const Batch& part : within_edges(model_, *batch, schema_, options_.batch_edges)) {
        use(part, first);
        first += part.count();
      }
    } catch (const ShapeError& error) {
      blame(number, error, use);
    }
    return batch->count();
  }
  /// `error` came of this batch.
  [[noreturn]] void blame(int64_t number, const ShapeError& error, const Use& use) const {
    blame_sample(options_.where, error, loader_.samples(number),
                 [&](int64_t sample) { use(loader_.alone(0, sample), sample); });
  }

 private:
  static Loader loader(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                       Form form) {
    LoaderOptions loading;
    loading.batch = options.batch;
    loading.batch_tokens = options.batch_tokens;
    loading.shuffle = false;
    loading.ahead = options.ahead;
    const bool as_read = form == Form::as_read && model.carrier() != Carrier::grid;
    loading.centre = as_read ? Centre::none : centre_of(model);
    loading.dtype = as_read ? at::kDouble : model.dtype();
    loading.device = form == Form::ready ? model.device() : at::Device(at::kCPU);
    if (options.ranks != nullptr) {
      loading.ahead *= options.ranks->size();
      loading.part = [rank = options.ranks->rank(), size = options.ranks->size()](
                         int64_t batch, std::span<const int64_t> samples) {
        return batch % size == rank ? std::vector<int64_t>(samples.begin(), samples.end())
                                    : std::vector<int64_t>();
      };
    }
    return Loader(std::move(data), loading, 0);
  }
  const Model& model_;
  const BatchOptions& options_;
  Schema schema_;
  Loader loader_;
};

/// One batch of each rank: predicted by it, used by the first. Returns their samples, and whether any rank has been asked to stop.
std::pair<int64_t, bool> shared_round(SetBatches& batches, int64_t first, const BatchOptions& options,
                                      const Predict& predict, const std::function<void(const Named&)>& use) {
  Ranks& ranks = *options.ranks;
  const int64_t end = std::min(first + ranks.size(), batches.count());
  std::vector<Named> own;
  int64_t samples = 0;
  for (int64_t number = first; number < end; ++number) {
    samples +=
        batches.next([&](const Batch& batch, int64_t of_batch) { own.push_back(predict(batch, of_batch)); });
  }
  int64_t number = first;
  tell_first<std::vector<Named>>(ranks, std::move(own), [&](const std::vector<Named>& said) {
    try {
      std::ranges::for_each(said, use);
    } catch (const ShapeError& error) {
      batches.blame(number, error, [&](const Batch& batch, int64_t sample) { use(predict(batch, sample)); });
    }
    ++number;
  });
  return {ranks.total(samples), ranks.total(options.stop && options.stop() ? 1 : 0) > 0};
}

}  // namespace

void meet(const BatchOptions& options) {
  if (options.at_meetings) {
    options.at_meetings();
  } else {
    options.ranks->barrier();
  }
}

int64_t each_batch(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                   Form form, const std::function<void(const Batch&)>& use) {
  require(options.ranks == nullptr || !options.stop, options.where,
          ": ranks that share samples must go through all of them, and cannot be stopped");
  const int64_t all = data->size();
  SetBatches batches(model, std::move(data), options, form);
  const int64_t together = kBetweenMeetings * count_of(options.ranks);
  int64_t samples = 0;
  for (int64_t number = 0; number < batches.count(); ++number) {
    samples += batches.next([&](const Batch& batch, int64_t) { use(batch); });
    if (options.progress) {
      options.progress(std::min(all, samples * count_of(options.ranks)));
    }
    if (options.ranks != nullptr && (number + 1) % together == 0) {
      meet(options);
    }
    if (options.stop && options.stop()) {
      break;
    }
  }
  return samples;
}

int64_t each_predicted(const Model& model, std::shared_ptr<const Dataset> data, const BatchOptions& options,
                       Form form, const Predict& predict, const std::function<void(const Named&)>& use) {
  SetBatches batches(model, std::move(data), options, form);
  int64_t samples = 0;
  bool stopped = false;
  for (int64_t number = 0; number < batches.count() && !stopped; number += count_of(options.ranks)) {
    if (options.ranks == nullptr) {
      samples += batches.next([&](const Batch& batch, int64_t first) { use(predict(batch, first)); });
    } else {
      const auto [more, any_stopped] = shared_round(batches, number, options, predict, use);
      samples += more;
      stopped = any_stopped;
    }
    if (options.progress) {
      options.progress(samples);
    }
    stopped = stopped || (options.ranks == nullptr && options.stop && options.stop());
  }
  return samples;
}

}  // namespace weyl
