#include "weyl/study/bench.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "weyl/ops/attention.h"
#include "weyl/ops/differentiable.h"
#include "weyl/study/allocation_peak.h"
#include "weyl/study/flops.h"
#include "weyl/study/matrix_products.h"
#include "weyl/train/optimiser.h"

namespace weyl {
namespace {

double milliseconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

Tensor loss_of(Model& model, const Task* task, const Batch& batch) {
  if (task) {
    return task->step(model, batch).loss;
  }
  Tensor loss = at::zeros({}, at::TensorOptions().dtype(model.dtype()).device(model.device()));
  for (const auto& [name, y] : model(batch.input)) {
    loss = loss + (y * y).mean();
  }
  return loss;
}

/// What is timed: a model on a batch.
struct Subject {
  Model& model;
  const Task* task;
  const Batch& batch;
  Optimiser optimiser;

  Named forward() {
    const at::NoGradGuard off;
    return model(batch.input);
  }
  void train_step() {
    loss_of(model, task, batch).backward();
    optimiser.step(/*factor=*/0);
    optimiser.clear_gradients();
  }
};

/// Runs work as one of the sides: kernels, torch expressions, or those with scattered pairs.
enum class Side { kernels, reference, scattered };
template <class F>
auto as(Side side, const F& work) {
  std::unique_ptr<UseReferences> expressions;
  std::unique_ptr<UseScatteredPairs> pairs;
  if (side != Side::kernels) {
    expressions = std::make_unique<UseReferences>();
  }
  if (side == Side::scattered) {
    pairs = std::make_unique<UseScatteredPairs>();
  }
  return work();
}

double largest_difference(const Named& a, const Named& b) {
  double largest = 0;
  for (const auto& [name, x] : a) {
    if (x.numel() > 0) {
      largest = std::max(largest, (x - b.at(name)).abs().max().item<double>());
    }
  }
  return largest;
}

/// Floating-point operations a second of one large square product.
double peak_rate(at::ScalarType dtype) {
  const int64_t n = 2048;
  const Tensor a = at::randn({n, n}, dtype), b = at::randn({n, n}, dtype);
  double best = 1e30;
  for (int repeat = 0; repeat < 4; ++repeat) {
    best = std::min(best, milliseconds([&] { at::mm(a, b); }));
  }
  return 2.0 * static_cast<double>(n * n * n) / (best * 1e-3);
}

}  // namespace

BenchCase bench(const std::string& name, Model& model, const Task* task, const Batch& batch,
                const BenchOptions& options) {
  BenchCase result;
  result.name = name;
  result.parameters = model.parameter_count();
  result.tokens = batch.tokens();
  Subject subject{model, task, batch, Optimiser(model.parameters(), OptimiserOptions{})};

  std::vector<std::pair<Side, BenchSide*>> sides{{Side::kernels, &result.kernels}};
  if (options.reference) {
    sides.emplace_back(Side::reference, &result.reference);
  }
  if (options.scattered) {
    sides.emplace_back(Side::scattered, &result.scattered);
  }

  MatrixProducts forward_products, train_products;
  model.train(true);
  for (const auto& [side, into] : sides) {  // the first step makes the optimiser's state and warms the caches
    as(side, [&] { subject.train_step(); });
    const AllocationPeak peak;
    as(side, [&] { subject.train_step(); });
    into->peak_mb = static_cast<double>(peak.bytes()) / 1e6;
  }
  train_products.record([&] { subject.train_step(); });
  model.train(false);
  const Named found = as(Side::kernels, [&] { return subject.forward(); });
  result.error = largest_difference(found, as(Side::reference, [&] { return subject.forward(); }));
  forward_products.record([&] { subject.forward(); });

  std::vector<std::vector<double>> forward(sides.size()), train(sides.size());
  std::vector<double> forward_matmul, train_matmul;
  for (int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t s = 0; s < sides.size(); ++s) {
      forward[s].push_back(as(sides[s].first, [&] { return milliseconds([&] { subject.forward(); }); }));
    }
    forward_matmul.push_back(milliseconds([&] { forward_products.replay(); }));
  }
  model.train(true);
  for (int64_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (size_t s = 0; s < sides.size(); ++s) {
      train[s].push_back(as(sides[s].first, [&] { return milliseconds([&] { subject.train_step(); }); }));
    }
    train_matmul.push_back(milliseconds([&] { train_products.replay(); }));
  }
  model.train(false);
  for (size_t s = 0; s < sides.size(); ++s) {
    sides[s].second->forward_ms = median(forward[s]);
    sides[s].second->train_step_ms = median(train[s]);
  }
  result.matmul_ms = median(forward_matmul);
  result.matmul_train_step_ms = median(train_matmul);
  const double rate = flops_per_token(model).train * static_cast<double>(result.tokens) /
                      (result.kernels.train_step_ms * 1e-3);
  result.gflops = rate * 1e-9;
  result.percent_of_peak = 100 * rate / peak_rate(model.dtype());
  return result;
}

}  // namespace weyl
