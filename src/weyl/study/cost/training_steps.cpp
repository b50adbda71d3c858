#include "weyl/study/cost/training_steps.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/parallel/device.h"
#include "weyl/train/loop/accumulate.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/loading.h"
#include "weyl/train/loop/optimiser.h"
#include "weyl/train/run/journal.h"

namespace weyl {

Batch next_batch(Loader& loader) {
  Batch batch = *loader.next();
  if (loader.position() == loader.batches()) {
    loader.start(loader.epoch() + 1);
  }
  return batch;
}

Tensor loss_of(Model& model, const Task* task, const Batch& batch) {
  if (task != nullptr) {
    return task->step(model, batch).loss;
  }
  Tensor loss = at::zeros({}, at::TensorOptions().dtype(model.dtype()).device(model.device()));
  for (const auto& [name, y] : model(batch.input)) {
    loss = loss + (y * y).mean();
  }
  return loss;
}

StepTimes time_training_steps(Model& model, const Task* task, std::shared_ptr<const Dataset> data,
                              const TrainOptions& options, int64_t steps) {
  require<ConfigError>(steps >= 1, "bench: steps must be at least 1, got ", steps);
  require<DataError>(data->size() > 0, "bench: the data set must have samples, got none");
  const TemporaryFolder folder("bench");
  Journal journal(folder.path(), {});
  Loader loader(std::move(data), loader_options(options, model, task), static_cast<uint64_t>(options.seed));
  Optimiser optimiser(model.parameters(), options.optimiser);
  const at::Device device = model.device();
  loader.start(0);
  model.train(true);

  StepTimes times;
  double losses = 0;
  for (int64_t step = 0; step <= steps; ++step) {
    if (step == 1) {  // the one before made the optimiser's state and warmed the caches
      times = {};
    }
    Batch batch;
    {
      const Timed timed(times.batch);
      batch = next_batch(loader);
      synchronise(device);
    }
    Tensor loss;
    {
      const Timed timed(times.forward);
      loss = loss_of(model, task, batch);
      losses += loss.item<double>();
    }
    {
      const Timed timed(times.backward);
      add_gradients(loss, model);
      synchronise(device);
    }
    double norm = 0;
    {
      const Timed timed(times.optimiser);
      norm = optimiser.clip_gradients();
      optimiser.step(/*factor=*/0);
      optimiser.clear_gradients();
      synchronise(device);
    }
    const Timed timed(times.logging);
    if (step == steps || (step + 1) % options.log_every_steps == 0) {
      journal.record(
          {.step = step, .epoch = 0, .rate = 0, .loss = losses, .gradient_norm = norm, .valid = {}});
      journal.record_times(step, 0, times);
    }
    ++times.steps;
  }
  model.train(false);
  return times;
}

namespace {

constexpr double faster = 0.95;  // of a step's time: less is worth a word
constexpr double most_repeats = 9;
constexpr double long_step = 500;  // ms: not worth one more for what a change of threads costs the first

}  // namespace

int64_t ThreadTimes::fewer_and_faster() const {
  int64_t best = 0;
  for (const auto& [number, share] : of_threads) {
    if (number < threads && share < faster && (best == 0 || share < of_threads.at(best))) {
      best = number;
    }
  }
  return best;
}

ThreadTimes time_threads(Model& model, const Task* task, const Batch& batch, std::vector<int64_t> numbers,
                         double seconds) {
  require<ConfigError>(!numbers.empty() && *std::min_element(numbers.begin(), numbers.end()) >= 1,
                       "bench: numbers of threads must be at least 1");
  const KeepThreads keep;
  ThreadTimes times;
  times.threads = numbers.back();
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  Optimiser optimiser(model.parameters(), OptimiserOptions{});
  const auto step_ms = [&] {
    const auto start = std::chrono::steady_clock::now();
    add_gradients(loss_of(model, task, batch), model);
    optimiser.step(/*factor=*/0);
    optimiser.clear_gradients();
    synchronise(model.device());
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  const auto threads = [](int64_t number) { at::set_num_threads(static_cast<int>(number)); };

  model.train(true);
  threads(times.threads);
  step_ms();  // makes the optimiser's state and warms the caches
  const double first = step_ms();
  const bool warm = first < long_step;
  const double round = (warm ? 2 : 1) * static_cast<double>(numbers.size()) * first;
  const auto repeats = static_cast<int64_t>(std::clamp(std::floor(1e3 * seconds / round), 1.0, most_repeats));
  std::map<int64_t, std::vector<double>> all;
  for (int64_t repeat = 0; repeat < repeats; ++repeat) {
    for (const int64_t number : numbers) {
      threads(number);
      if (warm) {
        step_ms();
      }
      all[number].push_back(step_ms());
    }
  }
  model.train(false);
  for (const auto& [number, ms] : all) {
    std::vector<double> shares;
    for (size_t i = 0; i < ms.size(); ++i) {
      shares.push_back(ms[i] / all.at(times.threads)[i]);
    }
    times.step_ms[number] = median(ms);
    times.of_threads[number] = median(shares);
  }
  return times;
}

}  // namespace weyl
