#include "weyl/study/sweep/timing.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "weyl/carriers/dataset.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/parallel/device.h"
#include "weyl/saved/evaluate.h"
#include "weyl/study/cost/allocation_peak.h"
#include "weyl/study/cost/training_steps.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/accumulate.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/loading.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// Training as train/loop/trainer.cpp does it, with steps of rate zero; the seconds of each step but the first.
class Steps {
 public:
  Steps(Trained& trained, const TrainOptions& options)
      : trained_(trained),
        options_(options),
        loader_(trained.train, loader_options(options, *trained.model, trained.task.get()),
                static_cast<uint64_t>(options.seed)),
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
    synchronise(trained_.model->device());
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

/// Of a model without a task: what its predictions cost, in batches of the training's, the median of some.
double forward_seconds_of_a_sample(Trained& t, TrainOptions options) {
  if (!options.crop.empty()) {  // a prediction is of the whole, by itself (train/loop/loading.h)
    options.crop.clear();
    options.batch = 1;
  }
  Loader loader(t.train, loader_options(options, *t.model, t.task.get()), 0);
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

}  // namespace

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

double tokens_of(const Dataset& data) {
  double tokens = 0;
  for (int64_t i = 0; i < data.size(); ++i) {
    tokens += static_cast<double>(data.tokens(i));
  }
  return tokens;
}

double tokens_of_a_sample(const Model& model, TrainOptions options) {
  options.batch = 1;
  options.batch_tokens.reset();
  return tokens_of_a_batch(model, options);
}

int64_t threads_of(const Trained& t, const TrainOptions& options, const MeasureOptions& measure) {
  if (measure.threads > 0 || !measure.device.is_cpu()) {
    return std::max<int64_t>(measure.threads, 1);
  }
  const int64_t share = std::max<int64_t>(at::get_num_threads() / measure.jobs, 1);
  return threads_worth(training_flops(*t.model, t.task.get(), tokens_of_a_batch(*t.model, options)), share);
}

void fill_facts(const Trained& t, const TrainOptions& options, ModelCost& cost) {
  const Model& model = *t.model;
  cost.facts.parameters = model.parameter_count_real();
  cost.facts.flops_a_token = model.work_of_token().nominal;
  cost.real_flops_a_token = training_flops(model, t.task.get(), 1);
  cost.tokens_a_step = tokens_of_a_batch(model, options) * static_cast<double>(options.accumulate);
}

OfASample time(const std::function<Trained()>& make, TrainOptions options, const MeasureOptions& measure,
               double scale, ModelCost& cost) {
  const KeepThreads keep;
  at::set_num_threads(static_cast<int>(cost.threads));
  Trained trained = make();
  const double bytes = measure.device.is_cpu() ? bytes_of_a_sample(trained, options) : 0;
  cost.accumulate = batches_that_fit(options, bytes, measure);
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

namespace {

/// Bytes that each of the jobs may take; without bound where that is not known.
double room_of(const MeasureOptions& measure) {
  return measure.device.is_cpu() ? 0.8 * measure.memory.value_or(static_cast<double>(available_memory())) /
                                       static_cast<double>(measure.jobs)
                                 : HUGE_VAL;
}

std::string megabytes(double bytes) {
  return std::to_string(static_cast<int64_t>(std::ceil(bytes / 1e6)));
}

}  // namespace

double bytes_of_a_sample(Trained& trained, const TrainOptions& options) {
  const Loader loader(trained.train, loader_options(options, *trained.model, trained.task.get()), 0);
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

int64_t batches_that_fit(const TrainOptions& options, double bytes_a_sample, const MeasureOptions& measure) {
  const double room = room_of(measure);
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

std::string too_large_text(const TrainOptions& options, double bytes_a_sample,
                           const MeasureOptions& measure) {
  const double room = room_of(measure);
  if (!options.batch_tokens && bytes_a_sample > room) {
    return text("a step on one sample takes ", megabytes(bytes_a_sample),
                " MB of memory, and a job may take ", megabytes(room), " MB: `scale run` will not get far");
  }
  const int64_t parts = batches_that_fit(options, bytes_a_sample, measure);
  return parts == 1
             ? ""
             : text("a batch of ", options.batch,
                    " does not fit into memory: timed with train.batch=", (options.batch + parts - 1) / parts,
                    " train.accumulate=", parts * options.accumulate,
                    ", which `scale run` takes only where the sweep file sets them");
}

}  // namespace weyl
