#include "weyl/study/thread_times.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/quantile.h"
#include "weyl/study/device.h"
#include "weyl/study/training_steps.h"
#include "weyl/train/accumulate.h"
#include "weyl/train/optimiser.h"
#include "weyl/train/threads.h"

namespace weyl {
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
