// Times every large case of tests/oracles/kernel_cases.h: kernel and torch expression, value alone and with
// gradients, in one interleaved run. Counters: `reference_ms`, `ratio` (reference / kernel) and `error`
// (largest difference).
#include <benchmark/benchmark.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>

#include "tests/oracles/kernel_cases.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/autograd/parallel.h"

namespace weyl {
namespace {

std::vector<at::Tensor> values(const KernelCase& c, const std::vector<at::Tensor>& inputs, bool gradients) {
  if (!gradients) {
    const at::NoGradGuard off;
    return c.run(inputs);
  }
  std::vector<at::Tensor> y = c.run(inputs), ones, wanted;
  for (const at::Tensor& t : y) {
    ones.push_back(at::ones_like(t));
  }
  for (const at::Tensor& x : inputs) {
    if (x.defined()) {
      wanted.push_back(x);
    }
  }
  return torch::autograd::grad(y, wanted, ones);
}

void run(benchmark::State& state, const KernelCase& c, bool gradients) {
  std::vector<at::Tensor> inputs;
  for (const at::Tensor& x : c.inputs) {
    inputs.push_back(x.defined() ? x.to(at::kFloat).detach().requires_grad_() : x);
  }
  std::vector<double> reference;
  std::vector<at::Tensor> right, found;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    found = values(c, inputs, gradients);
    const auto middle = std::chrono::steady_clock::now();
    {
      const UseReferences scope;
      right = values(c, inputs, gradients);
    }
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(middle - start).count());
    reference.push_back(std::chrono::duration<double, std::milli>(end - middle).count());
  }
  double error = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    error = worst_of(error, (found[i] - right[i]).abs().max().item<double>());
  }
  std::nth_element(reference.begin(), reference.begin() + reference.size() / 2, reference.end());
  state.counters["reference_ms"] = reference[reference.size() / 2];
  state.counters["error"] = error;
}

/// What it takes to wake the engine's threads and to wait for them, after so many microseconds of work on one thread:
/// what worker_grain (ops/autograd/parallel.h) is measured by.
void meet(benchmark::State& state) {
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(state.range(0))) {
    }
    const auto start = std::chrono::steady_clock::now();
    for_workers(at::get_num_threads(), [](int64_t) {});
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (const weyl::KernelCase& c : weyl::kernel_cases()) {
    for (const bool gradients : {false, true}) {
      if (c.timed) {
        benchmark::RegisterBenchmark(
            (c.name + (gradients ? "/gradients" : "/value")).c_str(),
            [c, gradients](benchmark::State& state) { weyl::run(state, c, gradients); })
            ->UseManualTime()
            ->Unit(benchmark::kMillisecond)
            ->Iterations(15);
      }
    }
  }
  benchmark::RegisterBenchmark("parallel/meet_after_us", weyl::meet)
      ->Arg(0)
      ->Arg(50)
      ->Arg(500)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond)
      ->Iterations(1000);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
