#include "weyl/study/sweep/measure.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>

#include "weyl/carriers/loader.h"
#include "weyl/carriers/subset.h"
#include "weyl/config/toml.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/joined.h"
#include "weyl/core/quantile.h"
#include "weyl/core/quote.h"
#include "weyl/data/declared_samples.h"
#include "weyl/data/open.h"
#include "weyl/predict/subject.h"
#include "weyl/study/allocation_peak.h"
#include "weyl/study/grid_samples.h"
#include "weyl/study/random_tokens.h"
#include "weyl/study/training_steps.h"
#include "weyl/train/accumulate.h"
#include "weyl/train/best_metric.h"
#include "weyl/train/evaluate.h"
#include "weyl/train/fingerprint.h"
#include "weyl/train/loading.h"
#include "weyl/train/optimiser.h"
#include "weyl/train/prepare.h"
#include "weyl/train/threads.h"

namespace weyl {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// A model in training, with what it is trained on.
struct Trained {
  std::shared_ptr<Model> model;
  std::unique_ptr<Task> task;  // null: the loss is the mean square of the outputs
  std::shared_ptr<const Dataset> train, valid, test;
};

Schema unlabelled(Schema schema) {
  schema.labels.clear();
  return schema;
}

std::shared_ptr<const Dataset> random_data(const Subject& subject, int64_t samples, int64_t nodes) {
  Schema asked = subject.schema;
  asked.labels = subject.model->interface.outputs;  // which say whether there are objects
  const Batch random = subject.schema.carrier() == Carrier::grid
                           ? random_grids(subject.schema, samples, shape_of_grids(subject), 0)
                           : random_tokens(asked, samples, nodes, 0);
  return std::make_shared<InMemory>(random, unlabelled(subject.schema));
}

/// So many samples from all over a set: to open a large one anew for each model would take longer than its steps.
std::shared_ptr<const Dataset> some_of(const std::shared_ptr<const Dataset>& data, int64_t most) {
  if (data == nullptr || data->size() <= most) {
    return data;
  }
  std::vector<int64_t> samples(static_cast<size_t>(most));
  for (int64_t i = 0; i < most; ++i) {
    samples[static_cast<size_t>(i)] = i * (data->size() / most);
  }
  return std::make_shared<Subset>(data, std::move(samples), data->schema());
}

Trained trained_on(const Recipe& recipe, const Splits& data, at::Device device, const Systems& systems) {
  TrainRequest request;
  const int64_t enough = std::max<int64_t>(4096, 64 * recipe.train.batch);
  request.data = Splits{some_of(data.train, enough), some_of(data.valid, enough), nullptr};
  request.device = device;
  request.systems = &systems;
  Prepared p = prepare(recipe, request, {recipe.data, recipe.task, recipe.train.from}, nullptr);
  return {p.saved.model, std::move(p.saved.task), request.data->train, data.valid, data.test};
}

/// The same, made for graphs of so many nodes; the recipe's own number where it is 0.
Subject random_subject(Recipe recipe, double nodes, at::Device device, const Systems& systems) {
  if (nodes > 0) {
    recipe.interface = build_subject(recipe, at::kMeta, {}, systems).model->interface;
    recipe.interface->typical_nodes = nodes;
  }
  return build_subject(recipe, device, {}, systems);
}

/// Training as train/trainer.cpp does it, with steps of rate zero; the seconds of each step but the first.
class Steps {
 public:
  Steps(Trained& trained, const TrainOptions& options)
      : trained_(trained),
        options_(options),
        loader_(trained.train, loader_options(options, *trained.model), static_cast<uint64_t>(options.seed)),
        optimiser_(trained.model->parameters(), options.optimiser) {
    loader_.start(0);
    trained_.model->train(true);
  }

  double operator()() {
    const auto start = Clock::now();
    for (int64_t i = 0; i < options_.accumulate; ++i) {
      add_gradients(loss_of(*trained_.model, trained_.task.get(), next_batch(loader_)), *trained_.model);
    }
    optimiser_.clip_gradients();
    optimiser_.step(/*factor=*/0);
    optimiser_.clear_gradients();
    return since(start);
  }

 private:
  Trained& trained_;
  TrainOptions options_;
  Loader loader_;
  Optimiser optimiser_;
};

/// Other trainings of the same kind beside what is timed, until this object ends.
class Company {
 public:
  Company(const std::function<Trained()>& make, const TrainOptions& options, int64_t count, int64_t threads) {
    for (int64_t i = 0; i < count; ++i) {
      others_.emplace_back([this, trained = std::make_shared<Trained>(make()), options, threads] {
        at::set_num_threads(static_cast<int>(threads));
        try {
          Steps step(*trained, options);
          while (!over_) {
            step();
          }
        } catch (const std::exception&) {  // what is timed fails in the same way, and says so
        }
      });
    }
  }
  ~Company() {
    over_ = true;
    for (std::thread& other : others_) {
      other.join();
    }
  }
  Company(const Company&) = delete;
  Company& operator=(const Company&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::vector<std::thread> others_;
};

/// Bytes that each sample of a step takes, on the CPU; gradients of the weights, which a step has once, are none of them.
double bytes_of_a_sample(Trained& trained, const TrainOptions& options) {
  const Loader loader(trained.train, loader_options(options, *trained.model), 0);
  const Batch batch = loader.alone(0, 0);  // by this thread, which alone is followed
  trained.model->train(true);
  const AllocationPeak peak;
  const Tensor loss = loss_of(*trained.model, trained.task.get(), batch);
  const auto forward = static_cast<double>(peak.bytes());
  add_gradients(loss, *trained.model);
  const auto whole = static_cast<double>(peak.bytes());
  double gradients = 0;
  for (const Parameter& p : trained.model->parameters()) {
    gradients += p.tensor.grad().defined() ? static_cast<double>(p.tensor.grad().nbytes()) : 0;
    p.tensor.mutable_grad() = Tensor();
  }
  return std::max(forward, whole - gradients);
}

/// The fewest batches that make a step of memory `room`; 1 where samples are counted in tokens.
int64_t batches_that_fit(const TrainOptions& options, double bytes_a_sample, double room) {
  int64_t accumulate = 1;
  if (options.batch_tokens) {
    return 1;
  }
  while (accumulate < options.batch &&
         bytes_a_sample * std::ceil(static_cast<double>(options.batch) / static_cast<double>(accumulate)) >
             room) {
    ++accumulate;
  }
  return accumulate;
}

double tokens_of(const Dataset& data) {
  double tokens = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    tokens += static_cast<double>(data.tokens(i));
  }
  return tokens;
}

/// Seconds of a whole split, from some of its samples.
double evaluation_seconds(Trained& t, const std::shared_ptr<const Dataset>& data,
                          const TrainOptions& options) {
  if (t.task == nullptr || data == nullptr || data->size() == 0) {
    return 0;
  }
  const auto part = some_of(data, 8 * options.batch);
  const auto start = Clock::now();
  evaluate(*t.model, *t.task, part, evaluate_options(options, "validation data"));
  return since(start) * tokens_of(*data) / tokens_of(*part);
}

int64_t threads_of(const Trained& t, const TrainOptions& options, const MeasureOptions& measure) {
  if (measure.threads > 0 || !measure.device.is_cpu()) {
    return std::max<int64_t>(measure.threads, 1);
  }
  const int64_t share = std::max<int64_t>(at::get_num_threads() / measure.jobs, 1);
  return threads_worth(training_flops(*t.model, t.task.get(), tokens_of_a_batch(*t.model, options)), share);
}

/// Bytes that each of the jobs may take; without bound where that is not known.
double room_of(const MeasureOptions& measure) {
  return measure.device.is_cpu() ? 0.8 * measure.memory.value_or(static_cast<double>(available_memory())) /
                                       static_cast<double>(measure.jobs)
                                 : HUGE_VAL;
}

/// What is to be said of a batch that is too large; nothing of one that fits.
std::string too_large_text(const TrainOptions& options, double bytes_a_sample,
                           const MeasureOptions& measure) {
  const int64_t parts = batches_that_fit(options, bytes_a_sample, room_of(measure));
  return parts == 1
             ? ""
             : text("a batch of ", options.batch,
                    " does not fit into memory: timed with train.batch=", (options.batch + parts - 1) / parts,
                    " train.accumulate=", parts * options.accumulate,
                    ", which `scale run` takes only where the sweep file sets them");
}

/// Of a model without a task: what its predictions cost, in batches of the training's, the median of some.
double forward_seconds_of_a_sample(Trained& t, const TrainOptions& options) {
  Loader loader(t.train, loader_options(options, *t.model), 0);
  loader.start(0);
  const Batch batch = next_batch(loader);
  const at::NoGradGuard no_gradients;
  t.model->train(false);
  std::vector<double> seconds;
  for (const auto start = Clock::now(); seconds.size() < 3 || (since(start) < 0.2 && seconds.size() < 50);) {
    const auto begin = Clock::now();
    loss_of(*t.model, nullptr, batch).item<double>();  // waits for a device
    seconds.push_back(since(begin));
  }
  return median(seconds) / static_cast<double>(batch.count());
}

struct OfASample {
  double bytes = 0;            // that a step on it takes; 0: not known
  double forward_seconds = 0;  // of random tokens
};

OfASample time(const std::function<Trained()>& make, TrainOptions options, const MeasureOptions& measure,
               double scale, ModelCost& cost) {
  const KeepThreads keep;
  at::set_num_threads(static_cast<int>(cost.threads));
  Trained trained = make();
  const double bytes = measure.device.is_cpu() ? bytes_of_a_sample(trained, options) : 0;
  cost.accumulate = batches_that_fit(options, bytes, room_of(measure));
  options.batch = (options.batch + cost.accumulate - 1) / cost.accumulate;
  const auto batches = static_cast<double>(cost.accumulate * options.accumulate);
  options.accumulate = 1;
  const Company company(make, options, measure.jobs - 1, cost.threads);
  Steps step(trained, options);
  step();  // makes the optimiser's state and warms the caches
  std::vector<double> seconds;
  const auto start = Clock::now();
  while (static_cast<int64_t>(seconds.size()) < measure.steps ||
         (since(start) < 0.5 && seconds.size() < 200)) {
    seconds.push_back(step());
    if (since(start) > 60) {
      break;
    }
  }
  cost.step_seconds = median(seconds) * batches * scale;
  cost.valid_seconds = evaluation_seconds(trained, trained.valid, options);
  cost.test_seconds = evaluation_seconds(trained, trained.test, options);
  return {bytes, trained.task == nullptr ? forward_seconds_of_a_sample(trained, options) : 0};
}

std::vector<std::string> names_of(const std::vector<MetricName>& metrics) {
  std::vector<std::string> names;
  for (const MetricName& metric : metrics) {
    names.push_back(metric.name);
  }
  std::ranges::sort(names);
  return names;
}

/// Random samples so short that a step on one takes seconds, not minutes; 0: as long as the recipe says.
double short_enough(const Recipe& recipe, const Systems& systems) {
  constexpr double most = 2e10;  // FLOPs, attention included
  double nodes = 0;
  for (auto subject = random_subject(recipe, 0, at::kMeta, systems);;) {
    const double typical = subject.model->interface.typical_nodes;
    if (training_flops(*subject.model, nullptr, typical) <= most || typical < 64) {
      return nodes;
    }
    nodes = std::floor(typical / 2);
    subject = random_subject(recipe, nodes, at::kMeta, systems);
  }
}

/// What the table's loss is, and what chooses: lower must be better of both. Returns the name of what chooses.
std::string require_loss(const Trained& t, const Recipe& recipe, const MeasureOptions& measure) {
  const bool valid = t.valid != nullptr && t.valid->size() > 0;
  require<ConfigError>(
      valid || !measure.choose,
      "rates: must be one where there are no validation data, as nothing chooses between them");
  const std::vector<MetricName> known =
      t.task->meter(t.model->interface)->names((valid ? t.valid : t.train)->schema());
  const BestMetric best(recipe.train.best, *t.task, known);
  const std::string instead = text(" (set = [\"train.best=", t.task->loss_metric(), "\"])");
  require<ConfigError>(
      !valid || best.lower_is_better(),
      "train.best: the metric that picks the best model must be one of which lower is better, ",
      "as the table's loss is, got ", printable(best.name()), instead);
  const std::string loss = measure.loss.empty() && valid ? best.name() : measure.loss;
  const auto found = std::ranges::find(known, loss, &MetricName::name);
  require<ConfigError>(found != known.end(), "loss: must be one of the metrics ",
                       joined_printable(names_of(known)), ", got ", quote(loss));
  require<ConfigError>(found->lower_is_better, "loss: must be a metric of which lower is better, got ",
                       quote(loss));
  return best.name();
}

void fill_facts(const Trained& t, const TrainOptions& options, ModelCost& cost) {
  const Model& model = *t.model;
  cost.facts.parameters = model.parameter_count_real();
  cost.facts.flops_a_token = nominal_training_flops(model);
  cost.real_flops_a_token = training_flops(model, t.task.get(), 1);
  cost.tokens_a_step = tokens_of_a_batch(model, options) * static_cast<double>(options.accumulate);
}

/// Of random parts of samples (train.crop) the parts count, as training counts them.
double tokens_of_epoch(const Dataset& train, const TrainOptions& options, const Model& model) {
  if (!options.crop.empty()) {
    TrainOptions one = options;
    one.batch = 1;
    one.batch_tokens.reset();
    return static_cast<double>(train.size()) * tokens_of_a_batch(model, one);
  }
  return tokens_of(train);
}

/// Without data, validation and test cost the forward passes of the samples that the options say there are.
void estimate_evaluation(const Recipe& recipe, double forward_seconds, ModelCost& cost) {
  const PartCounts samples = declared_samples(recipe.data);
  cost.valid_seconds = forward_seconds * static_cast<double>(samples.valid);
  cost.test_seconds = forward_seconds * static_cast<double>(samples.test);
  const auto of = [](const char* what, int64_t count) {
    return count > 0 ? text(what, " by ", count, " forward passes") : text(what, " is not counted");
  };
  const bool all = samples.valid > 0 && samples.test > 0;
  cost.evaluation = text(of("validation", samples.valid), ", ", of("the test", samples.test),
                         all ? "" : " (the data's options, valid and test, do not say of how many samples)");
}

}  // namespace

SweepData::Opened* SweepData::open(const Recipe& recipe) {
  if (!std::filesystem::exists(path_of(recipe.data))) {
    return nullptr;
  }
  DataOptions options = recipe.data;
  const std::string key = write_toml([&](Fields& f) { fields(f, options); });
  const auto found = opened_.find(key);
  if (found != opened_.end()) {
    return &found->second;
  }
  Splits splits = open_splits(recipe.data, recipe.interface ? &*recipe.interface : nullptr);
  return &opened_.emplace(key, Opened{std::move(splits), {}}).first->second;
}

const Splits* SweepData::of(const Recipe& recipe) {
  const Opened* opened = open(recipe);
  return opened != nullptr ? &opened->splits : nullptr;
}

Json SweepData::evaluated(const Recipe& recipe) {
  Opened* opened = open(recipe);
  if (opened == nullptr || opened_.size() < 2) {
    return {};
  }
  if (!opened->evaluated.is_object()) {
    opened->evaluated = fingerprint(Splits{nullptr, opened->splits.valid, opened->splits.test});
  }
  return opened->evaluated;
}

ModelCost cost_of(const Recipe& recipe, const Splits* data, const MeasureOptions& measure,
                  const Systems& systems) {
  ModelCost cost;
  const TrainOptions& options = recipe.train;
  if (data != nullptr) {
    const auto make = [&] { return trained_on(recipe, *data, measure.device, systems); };
    {
      const Trained t = make();
      cost.metric = require_loss(t, recipe, measure);
      fill_facts(t, options, cost);
      cost.facts.tokens = tokens_of_epoch(*data->train, options, *t.model);
      cost.threads = threads_of(t, options, measure);
    }
    if (measure.steps > 0) {
      cost.how = too_large_text(options, time(make, options, measure, 1, cost).bytes, measure);
    }
    return cost;
  }
  const auto subject_of = [&](double nodes, at::Device device) {
    return random_subject(recipe, nodes, device, systems);
  };
  double whole = 0;
  {
    Subject subject = subject_of(0, at::kMeta);
    const Trained t{subject.model, std::move(subject.task), nullptr, nullptr, nullptr};
    fill_facts(t, options, cost);
    cost.threads = threads_of(t, options, measure);
    cost.metric = !options.best.empty() ? options.best : t.task != nullptr ? t.task->headline() : "";
    whole = training_flops(*t.model, nullptr, t.model->interface.typical_nodes);
  }
  if (measure.steps > 0) {
    const double nodes = short_enough(recipe, systems);
    // A few samples stand for a batch of them.
    TrainOptions few = options;
    few.batch = nodes > 0 ? 1 : std::min<int64_t>(options.batch, 64);
    few.batch_tokens.reset();
    double timed = 0;
    const auto make = [&] {
      Subject subject = subject_of(nodes, measure.device);
      const auto n = std::max<int64_t>(1, std::llround(subject.model->interface.typical_nodes));
      timed = training_flops(*subject.model, nullptr, static_cast<double>(n));
      return Trained{subject.model, nullptr, random_data(subject, few.batch, n), nullptr, nullptr};
    };
    make();
    const double samples =
        cost.tokens_a_step / static_cast<double>(options.accumulate) /
        (whole > 0 ? random_subject(recipe, 0, at::kMeta, systems).model->interface.typical_nodes : 1);
    const OfASample sample =
        time(make, few, measure, whole / timed * samples / static_cast<double>(few.batch), cost);
    estimate_evaluation(recipe, sample.forward_seconds * whole / timed, cost);
    const double typical = cost.tokens_a_step / static_cast<double>(options.batch * options.accumulate);
    const std::string too_large =
        too_large_text(options, nodes > 0 ? sample.bytes * typical / nodes : sample.bytes, measure);
    cost.how = nodes > 0 ? text("timed on one random sample of ", nodes, " tokens, by FLOPs")
                         : "timed on random tokens";
    cost.how += too_large.empty() ? "" : "; " + too_large;
  }
  return cost;
}

}  // namespace weyl
