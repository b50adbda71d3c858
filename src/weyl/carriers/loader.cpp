#include "weyl/carriers/loader.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "weyl/carriers/augmented_grid.h"
#include "weyl/carriers/crop.h"
#include "weyl/carriers/motion.h"
#include "weyl/carriers/origin.h"
#include "weyl/carriers/pose_elements.h"
#include "weyl/core/check.h"
#include "weyl/core/random.h"

namespace weyl {
namespace {

constexpr int64_t kLooked = 256;  // samples whose translations tell how far apart those of a set are

/// The root mean square of the coordinates of translations of poses; 1 where there are none.
double spread_of(const Dataset& data, Centre centre) {
  const LieGroup group = data.schema().interface.group.value();
  std::vector<int64_t> first(std::min(kLooked, data.size()));
  std::iota(first.begin(), first.end(), int64_t{0});
  Batch batch = data.batch(first);
  batch = shifted(batch, to_origin(batch.input, centre), data.schema());
  const Motions motions = motions_of(group, std::get<Poses>(batch.input).elements);
  const Tensor& t = motions.translation;
  const double spread = t.defined() && t.numel() > 0 ? std::sqrt(t.square().mean().item<double>()) : 1;
  return std::isfinite(spread) && spread > 0 ? spread : 1;
}

}  // namespace

struct Loader::State {
  std::shared_ptr<const Dataset> data;
  LoaderOptions options;
  uint64_t seed = 0;
  double spread = 1;  // of the translations of random motions of poses

  int64_t epoch = 0, position = 0;  // of the next batch that the caller gets
  EpochPlan plan;                   // of the epoch

  // Shared with the threads that make batches ahead, under `mutex`.
  struct Made {
    std::optional<Batch> batch;
    std::exception_ptr error;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, Made> made;       // by the batch's number
  int64_t next_made = 0, wanted = 0;  // the next that a thread takes on, and that the caller gets
  bool stop = false;
  std::vector<std::thread> workers;

  ~State() { finish(); }

  void finish() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    changed.notify_all();
    for (std::thread& worker : workers) {
      worker.join();
    }
    workers.clear();
    made.clear();
    stop = false;
  }

  /// Whether two samples may share a batch.
  bool fit(int64_t a, int64_t b) const {
    if (data->schema().carrier() != Carrier::grid) {
      return true;
    }
    const Lattice one = data->lattice(a), other = data->lattice(b);
    return options.crop.empty() ? one.alike(other) : same_spacing(one.spacing, other.spacing);
  }

  /// The augmentation of a sample depends on (seed, epoch, sample) alone, not on the batch that it is in.
  Motions motions(int64_t of_epoch, std::span<const int64_t> samples, const Input& like) const {
    const auto stream_of = [&](int64_t sample) {
      return Stream(seed, "augment", {static_cast<uint64_t>(of_epoch), static_cast<uint64_t>(sample)});
    };
    if (options.move) {
      const LieGroup group = data->schema().interface.group.value();
      const int64_t m = matrix_size(group);
      const Tensor elements = at::empty({static_cast<int64_t>(samples.size()), m, m}, at::kDouble);
      for (size_t i = 0; i < samples.size(); ++i) {
        Stream stream = stream_of(samples[i]);
        elements[static_cast<int64_t>(i)].copy_(random_elements(group, 1, spread, stream)[0]);
      }
      return motions_of(group, elements);
    }
    const int64_t d = data->schema().interface.dimension;
    Tensor linear = at::empty({static_cast<int64_t>(samples.size()), d, d}, at::kDouble);
    double* r = linear.mutable_data_ptr<double>();
    for (const int64_t sample : samples) {
      Stream stream = stream_of(sample);
      if (const auto* grid = std::get_if<Grid>(&like)) {
        draw_quarter_turns(*grid, options.reflect, stream, r);
      } else {
        draw_orthogonal(d, options.reflect, stream, r);
      }
      r += d * d;
    }
    return {linear, {}};
  }

  /// Samples as the set gives them. Partners are drawn among all, one a sample and epoch.
  Batch given(int64_t of_epoch, std::span<const int64_t> samples) const {
    if (!options.augment) {
      return data->batch(samples);
    }
    std::vector<int64_t> partners;
    for (const int64_t sample : samples) {
      Stream stream(seed, "partner", {static_cast<uint64_t>(of_epoch), static_cast<uint64_t>(sample)});
      partners.push_back(stream.below(data->size()));
    }
    return data->augmented(samples, partners, {seed, of_epoch});
  }

  /// Grids that are cropped or changed, each by itself.
  Batch parts(int64_t of_epoch, std::span<const int64_t> samples) const {
    std::vector<Batch> parts;
    for (const int64_t sample : samples) {
      const Batch whole = given(of_epoch, {&sample, 1});
      Crop part;
      if (options.crop.empty()) {
        const at::IntArrayRef cells = std::get<Grid>(whole.input).values.sizes().slice(2);
        part = {std::vector<int64_t>(cells.size()), cells.vec()};
      } else {
        Stream stream(seed, "crop", {static_cast<uint64_t>(of_epoch), static_cast<uint64_t>(sample)});
        part = random_crop(whole, options.crop, options.crop_foreground, data->schema(), stream);
      }
      parts.push_back(options.grids.any() ? augmented_grid(whole, part, options.grids, data->schema(),
                                                           {seed, of_epoch}, sample)
                                          : cropped(whole, part, data->schema()));
    }
    return concatenate(parts, data->schema());
  }

  /// What is made here of a planned batch.
  Batch made_here(int64_t of_epoch, int64_t number) const {
    const std::vector<int64_t> samples = plan[number];
    if (!options.part) {
      return make(of_epoch, samples);
    }
    const std::vector<int64_t> own = options.part(number, samples);
    return own.empty() ? Batch() : make(of_epoch, own);
  }

  Batch make(int64_t of_epoch, std::span<const int64_t> samples) const {
    const at::NoGradGuard no_grad;
    const bool whole = options.crop.empty() && !options.grids.any();
    Batch batch = whole ? given(of_epoch, samples) : parts(of_epoch, samples);
    batch = shifted(batch, to_origin(batch.input, options.centre), data->schema());
    if (options.rotate || options.reflect || options.move) {
      batch = transform(batch, motions(of_epoch, samples, batch.input), data->schema());
    }
    if (options.prepare) {
      options.prepare(batch);
    }
    return to(batch, options.device, options.dtype);
  }

  /// One of the threads: takes on one batch after the other. It waits while as many are made, and not yet asked for, as
  /// may be; the one that is asked for next is always among those that are taken on.
  void work(int64_t of_epoch) {
    const int64_t count = plan.size();
    for (std::unique_lock lock(mutex);;) {
      changed.wait(lock, [&] { return stop || next_made < wanted + options.ahead + options.threads; });
      if (stop || next_made >= count) {
        return;
      }
      const int64_t number = next_made++;
      lock.unlock();
      Made result;
      try {
        result.batch = made_here(of_epoch, number);
      } catch (...) {
        result.error = std::current_exception();
      }
      lock.lock();
      if (result.error) {
        next_made = count;  // none after it is asked for
      }
      made.emplace(number, std::move(result));
      changed.notify_all();
    }
  }
};

void require_crop(std::span<const int64_t> crop, const Schema& schema) {
  require<ConfigError>(crop.empty() || schema.carrier() == Carrier::grid,
                       "crop: needs grids, the data set holds ", name_of(schema.carrier()));
  const auto axes = static_cast<int64_t>(crop.size());
  require<ConfigError>(axes <= 1 || axes == schema.interface.dimension,
                       "crop: must be one number, or one for each of the ", schema.interface.dimension,
                       " axes, got ", axes);
}

Loader::Loader(std::shared_ptr<const Dataset> data, LoaderOptions options, uint64_t seed)
    : state_(std::make_unique<State>()) {
  require<ConfigError>(options.batch >= 1, "batch: must be at least 1, got ", options.batch);
  require<ConfigError>(!options.batch_tokens || *options.batch_tokens >= 1,
                       "batch_tokens: must be at least 1, got ", options.batch_tokens.value_or(0));
  require<ConfigError>(options.threads >= 1, "loaders: must be at least 1, got ", options.threads);
  require_crop(options.crop, data->schema());
  require_grid_augmentation(options.grids, data->schema());
  require(!(options.rotate || options.reflect) ||
              (data->schema().interface.dimension >= 1 && data->schema().interface.dimension <= 3),
          "loader: rotations need 1, 2 or 3 dimensions, got ", data->schema().interface.dimension);
  require(!options.reflect || data->schema().carrier() != Carrier::poses,
          "loader: poses cannot be reflected, a reflection leaves their group");
  if (options.move) {
    require(data->schema().carrier() == Carrier::poses,
            "loader: random motions of a Lie group need poses of one, got ",
            name_of(data->schema().carrier()));
    state_->spread = spread_of(*data, options.centre);
  }
  state_->data = std::move(data);
  state_->options = options;
  state_->seed = seed;
}

Loader::~Loader() = default;
Loader::Loader(Loader&&) noexcept = default;
Loader& Loader::operator=(Loader&&) noexcept = default;

void Loader::start(int64_t epoch, int64_t first_batch) {
  state_->finish();
  state_->plan = plan(epoch);
  const int64_t count = state_->plan.size();
  require(epoch >= 0 && first_batch >= 0 && first_batch <= count, "loader: epoch ", epoch,
          " has batches 0 .. ", count, ", got ", first_batch);
  state_->epoch = epoch;
  state_->position = first_batch;
  state_->next_made = state_->wanted = first_batch;
  const int64_t threads =
      state_->options.ahead > 0 ? std::min(state_->options.threads, count - first_batch) : 0;
  for (int64_t i = 0; i < threads; ++i) {
    state_->workers.emplace_back([state = state_.get(), epoch] { state->work(epoch); });
  }
}

std::optional<Batch> Loader::next() {
  State& s = *state_;
  if (s.position >= s.plan.size()) {
    return std::nullopt;
  }
  if (s.workers.empty()) {
    Batch batch = s.made_here(s.epoch, s.position);
    ++s.position;
    return batch;
  }
  std::unique_lock lock(s.mutex);
  s.changed.wait(lock, [&] { return s.made.contains(s.position); });
  State::Made made = std::move(s.made.extract(s.position).mapped());
  if (!made.error) {
    s.wanted = s.position + 1;
  }
  lock.unlock();
  s.changed.notify_all();
  if (made.error) {
    s.finish();  // the next call makes this batch itself, and fails likewise
    std::rethrow_exception(made.error);
  }
  ++s.position;
  return std::move(made.batch);
}

int64_t Loader::epoch() const {
  return state_->epoch;
}
int64_t Loader::position() const {
  return state_->position;
}
int64_t Loader::batches() const {
  return state_->plan.size();
}
std::vector<int64_t> Loader::samples(int64_t batch) const {
  return state_->plan[batch];
}

EpochPlan Loader::plan(int64_t epoch) const {
  const State& s = *state_;
  EpochPlan plan;
  plan.samples_ = s.data->size();
  plan.batch_ = s.options.batch;
  if (s.options.shuffle && plan.samples_ > 0) {
    Stream stream(s.seed, "order", {static_cast<uint64_t>(epoch)});
    if (plan.samples_ <= EpochPlan::most_listed) {
      plan.listed_ = stream.permutation(plan.samples_);
    } else {
      plan.computed_.emplace(plan.samples_, stream);
    }
  }
  if (!s.options.batch_tokens && s.data->schema().carrier() != Carrier::grid) {
    return plan;
  }
  int64_t tokens = 0, first = 0, count = 0;  // of the last batch
  for (int64_t place = 0; place < plan.samples_; ++place) {
    const int64_t sample = plan.sample(place);
    bool full = count == 0 || count == s.options.batch || !s.fit(first, sample);
    if (s.options.batch_tokens) {
      const int64_t size = s.data->tokens(sample);
      full = full || tokens + size > *s.options.batch_tokens;
      tokens = full ? size : tokens + size;
    }
    if (full) {
      plan.begins_.push_back(place);
      first = sample;
      count = 0;
    }
    ++count;
  }
  plan.begins_.push_back(plan.samples_);
  return plan;
}

int64_t EpochPlan::sample(int64_t place) const {
  return computed_ ? (*computed_)(place) : listed_.empty() ? place : listed_[static_cast<size_t>(place)];
}

int64_t EpochPlan::size() const {
  return begins_.empty() ? samples_ / batch_ + (samples_ % batch_ > 0 ? 1 : 0) : std::ssize(begins_) - 1;
}

std::vector<int64_t> EpochPlan::operator[](int64_t batch) const {
  require(batch >= 0 && batch < size(), "plan: batch ", batch, " is not one of 0 .. ", size() - 1);
  const auto b = static_cast<size_t>(batch);
  const int64_t begin = begins_.empty() ? batch * batch_ : begins_[b];
  const int64_t end = begins_.empty() ? begin + std::min(batch_, samples_ - begin) : begins_[b + 1];
  std::vector<int64_t> samples;
  for (int64_t place = begin; place < end; ++place) {
    samples.push_back(sample(place));
  }
  return samples;
}

std::vector<std::vector<int64_t>> EpochPlan::all() const {
  std::vector<std::vector<int64_t>> batches;
  for (int64_t b = 0; b < size(); ++b) {
    batches.push_back((*this)[b]);
  }
  return batches;
}

void for_each_chunk(const Dataset& data, int64_t most, const std::function<void(const Batch&)>& f) {
  const at::NoGradGuard no_grad;
  if (data.streams()) {
    LoaderOptions options{.batch = most, .shuffle = false};
    constexpr int64_t most_threads = 8;  // each holds a chunk
    options.threads = data.reads_anywhere() ? std::min<int64_t>(at::get_num_threads(), most_threads) : 1;
    options.dtype = at::kDouble;
    Loader loader(std::shared_ptr<const Dataset>(&data, [](const Dataset*) {}), options, 0);
    loader.start(0);
    while (const std::optional<Batch> batch = loader.next()) {
      f(*batch);
    }
    return;
  }
  for (int64_t begin = 0; begin < data.size(); begin += most) {
    std::vector<int64_t> samples(static_cast<size_t>(std::min(most, data.size() - begin)));
    std::iota(samples.begin(), samples.end(), begin);
    f(data.batch(samples));
  }
}

Batch Loader::alone(int64_t epoch, int64_t sample) const {
  return state_->make(epoch, {&sample, 1});
}
const Dataset& Loader::data() const {
  return *state_->data;
}

}  // namespace weyl
