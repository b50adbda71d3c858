#include "weyl/study/cost/bench.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "weyl/core/quantile.h"
#include "weyl/core/worst_of.h"
#include "weyl/models/constant_weights.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/parallel/device.h"
#include "weyl/study/cost/allocation_peak.h"
#include "weyl/study/cost/host_waits.h"
#include "weyl/study/cost/operation_counts.h"
#include "weyl/study/cost/training_steps.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/accumulate.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/optimiser.h"

namespace weyl {
namespace {

double milliseconds(at::Device device, const std::function<void()>& work) {
  synchronise(device);
  const auto start = std::chrono::steady_clock::now();
  work();
  synchronise(device);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

BenchRatio ratio(const std::vector<double>& these, const std::vector<double>& those) {
  std::vector<double> quotients;
  for (size_t i = 0; i < these.size(); ++i) {
    quotients.push_back(these[i] / those[i]);
  }
  return {median(quotients), quantile(quotients, 0.25), quantile(quotients, 0.75)};
}

/// What is timed: a model on a batch.
struct TimedModel {
  Model& model;
  const Task* task;
  const Batch& batch;
  Optimiser optimiser;

  Named forward() {
    const at::NoGradGuard off;
    return model(batch.input);
  }
  Named predict() {
    const at::NoGradGuard off;
    const ConstantWeights constant(model);  // as a Predictor has them
    return task->predict(model, batch);
  }
  void train_step() {
    add_gradients(loss_of(model, task, batch), model);
    optimiser.step(/*factor=*/0);
    optimiser.clear_gradients();
  }
};

/// Runs work by kernels, or as torch expressions alone.
template <class F>
auto as(bool reference, PlainAttention attention, const F& work) {
  std::optional<UseReferences> expressions;
  if (reference) {
    expressions.emplace(attention);
  }
  return work();
}

/// Milliseconds of work in steady use, the second time of two: what the caches hold the first time is another side's.
template <class F>
double steady_milliseconds(at::Device device, const F& work) {
  work();
  return milliseconds(device, work);
}

double difference_of_outputs(const Named& a, const Named& b) {
  double largest = 0;
  for (const auto& [name, x] : a) {
    if (x.numel() > 0) {
      largest = worst_of(largest, (x - b.at(name)).abs().max().item<double>());
    }
  }
  return largest;
}

/// Gives `to` the weights of `from`; false, and no change, unless they are the same by name and shape.
bool copy_weights(const Model& from, const Model& to) {
  const std::vector<Parameter> theirs = from.parameters(), own = to.parameters();
  const bool same = std::ranges::equal(theirs, own, [](const Parameter& a, const Parameter& b) {
    return a.name == b.name && a.tensor.sizes() == b.tensor.sizes();
  });
  const at::NoGradGuard off;
  for (size_t i = 0; same && i < own.size(); ++i) {
    own[i].tensor.copy_(theirs[i].tensor);
  }
  return same;
}

/// Floating-point operations a second of one large square product: the fastest of some, of which the first warms up.
double peak_rate(at::Device device, at::ScalarType dtype) {
  const int64_t n = device.is_cpu() ? 2048 : 8192;
  const at::TensorOptions options = at::TensorOptions().dtype(dtype).device(device);
  const Tensor a = at::randn({n, n}, options), b = at::randn({n, n}, options);
  double best = 1e30;
  for (int repeat = 0; repeat < 4; ++repeat) {
    best = std::min(best, milliseconds(device, [&] { at::mm(a, b); }));
  }
  return 2.0 * static_cast<double>(n * n * n) / (best * 1e-3);
}

/// What follows from the train step's time.
void set_rates(const Model& model, const Task* task, BenchCase& result) {
  const auto tokens = static_cast<double>(result.tokens);
  const double seconds = result.kernels.train_step_ms * 1e-3,
               rate = training_flops(model, task, tokens) / seconds;
  result.tokens_per_second = tokens / seconds;
  result.gflops = rate * 1e-9;
  result.dense_gflops =
      result.gflops * (model.dense_work_of_token().training() / model.work_of_token().training());
  result.percent_of_peak = 100 * rate / peak_rate(model.device(), model.dtype());
}

}  // namespace

BenchCase bench(const std::string& name, Model& model, const Task* task, const Batch& batch,
                const BenchOptions& options) {
  BenchCase result;
  const at::Device device = model.device();
  result.name = name;
  result.device = device_name(device);
  result.parameters = model.parameter_count();
  result.tokens = batch.tokens();
  TimedModel subject{model, task, batch, Optimiser(model.parameters(), OptimiserOptions{})};
  std::optional<TimedModel> other;
  bool same_weights = false;
  if (options.other != nullptr) {
    same_weights = copy_weights(model, *options.other);
    other.emplace(*options.other, task, batch, Optimiser(options.other->parameters(), OptimiserOptions{}));
  }
  const auto set_training = [&](bool on) {
    model.train(on);
    if (other) {
      other->model.train(on);
    }
  };

  struct Side {
    TimedModel& of;
    bool reference;
    BenchSide& into;
    std::vector<double> forward, predict, train_step;
  };
  std::vector<Side> sides{{subject, false, result.kernels, {}, {}, {}}};
  if (other) {
    sides.push_back({*other, false, result.other, {}, {}, {}});
  }
  if (options.reference) {
    sides.push_back({subject, true, result.reference, {}, {}, {}});
  }

  MatrixProducts forward_products, train_products;
  set_training(true);
  for (const Side& side : sides) {  // the first step makes the optimiser's state and warms the caches
    as(side.reference, options.plain_attention, [&] { side.of.train_step(); });
    const AllocationPeak peak(device);
    as(side.reference, options.plain_attention, [&] { side.of.train_step(); });
    side.into.peak_mb = static_cast<double>(peak.bytes()) / 1e6;
  }
  if (!device.is_cpu()) {
    result.host_waits = host_waits(
        device, [&] { subject.train_step(); }, options.wait_places ? &result.wait_places : nullptr);
  }
  train_products.record([&] { subject.train_step(); });
  set_training(false);
  const Named found = subject.forward();
  if (same_weights) {
    result.error_of_other = difference_of_outputs(found, other->forward());
  }
  if (options.reference) {
    result.error =
        difference_of_outputs(found, as(true, options.plain_attention, [&] { return subject.forward(); }));
  }
  forward_products.record([&] { subject.forward(); });

  std::vector<double> forward_matmul, train_matmul;
  for (int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (Side& side : sides) {
      side.forward.push_back(as(side.reference, options.plain_attention,
                                [&] { return steady_milliseconds(device, [&] { side.of.forward(); }); }));
    }
    for (Side& side : sides) {
      if (task != nullptr) {
        side.predict.push_back(as(side.reference, options.plain_attention,
                                  [&] { return steady_milliseconds(device, [&] { side.of.predict(); }); }));
      }
    }
    forward_matmul.push_back(steady_milliseconds(device, [&] { forward_products.replay(); }));
  }
  set_training(true);
  for (int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (Side& side : sides) {
      side.train_step.push_back(as(side.reference, options.plain_attention, [&] {
        return steady_milliseconds(device, [&] { side.of.train_step(); });
      }));
    }
    train_matmul.push_back(steady_milliseconds(device, [&] { train_products.replay(); }));
  }
  set_training(false);
  for (const Side& side : sides) {
    side.into.forward_ms = median(side.forward);
    side.into.predict_ms = task != nullptr ? median(side.predict) : 0;
    side.into.train_step_ms = median(side.train_step);
  }
  result.matmul_ms = median(forward_matmul);
  result.matmul_train_step_ms = median(train_matmul);
  result.forward_over_matmul = ratio(sides[0].forward, forward_matmul);
  result.train_step_over_matmul = ratio(sides[0].train_step, train_matmul);
  const auto compare = [&](const Side& with, BenchRatio& forward, BenchRatio& predict,
                           BenchRatio& train_step) {
    forward = ratio(with.forward, sides[0].forward);
    if (task != nullptr) {
      predict = ratio(with.predict, sides[0].predict);
    }
    train_step = ratio(with.train_step, sides[0].train_step);
  };
  if (other) {
    compare(sides[1], result.forward_of_other, result.predict_of_other, result.train_step_of_other);
  }
  if (options.reference) {
    compare(sides.back(), result.forward_speedup, result.predict_speedup, result.train_step_speedup);
  }
  note_objects(model, batch.input);
  set_rates(model, task, result);
  return result;
}

}  // namespace weyl
