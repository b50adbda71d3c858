// Steerable layers, each beside its plain torch expression, interleaved, on WEYL_THREADS threads (2): forward
// alone in evaluation mode and with the backward pass. Counters: ms of either (medians), their ratio, the
// memory that tensors took beyond what was alive, the largest difference relative to the largest number.
// Attention's plain form makes every k_ij and v_ij; it is left out where it would not fit into WEYL_PLAIN_GB
// (8) of memory.
#include <benchmark/benchmark.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "weyl/models/steerable/attention.h"
#include "weyl/ops/differentiable.h"
#include "weyl/study/allocation_peak.h"

namespace weyl {
namespace {

using Layer = std::function<Tensor(const Tensor&)>;

/// A layer and what it is measured on. `plain`: bytes that its plain form needs for the forward pass.
struct Subject {
  std::shared_ptr<Module> module;
  Layer layer;
  std::vector<int64_t> input;
  double plain = 0;
};

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double number_from(const char* name, double otherwise) {
  const char* told = std::getenv(name);
  return told != nullptr ? std::atof(told) : otherwise;
}

/// {result, gradients ...}
Tensors values(const Subject& s, const Tensor& x, bool step, bool plain) {
  const at::AutoGradMode mode(step);
  const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
  const Tensor y = s.layer(x);
  Tensors found{y.detach()};
  if (step) {
    Tensors wanted{x};
    for (const Parameter& p : s.module->parameters()) {
      wanted.push_back(p.tensor);
    }
    const Tensors g = torch::autograd::grad({y.square().mean()}, wanted);
    found.insert(found.end(), g.begin(), g.end());
  }
  return found;
}

void run(benchmark::State& state, const std::function<Subject()>& make, bool step) {
  at::set_num_threads(static_cast<int>(number_from("WEYL_THREADS", 2)));
  at::manual_seed(1);
  const Subject s = make();
  s.module->train(step);
  const Tensor x = at::randn(s.input).requires_grad_(step);
  const bool compare = s.plain * (step ? 3 : 1) < 1e9 * number_from("WEYL_PLAIN_GB", 8);
  std::vector<double> ms, plain_ms;
  double mb = 0, plain_mb = 0, error = 0;
  const auto timed = [&](bool plain, std::vector<double>& times, double& memory) {
    const AllocationPeak peak;
    const double start = now_ms();
    Tensors found = values(s, x, step, plain);
    times.push_back(now_ms() - start);
    memory = static_cast<double>(peak.bytes()) / 1e6;
    return found;
  };
  values(s, x, step, false);
  for (auto _ : state) {
    const Tensors found = timed(false, ms, mb);
    state.SetIterationTime(ms.back() / 1e3);
    if (compare) {
      const Tensors right = timed(true, plain_ms, plain_mb);
      for (size_t i = 0; i < found.size(); ++i) {
        const double scale = 1e-30 + right[i].abs().max().item<double>();
        error = std::max(error, (found[i] - right[i]).abs().max().item<double>() / scale);
      }
    }
  }
  const auto median = [](std::vector<double>& v) {
    std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
    return v[v.size() / 2];
  };
  state.counters["ms"] = median(ms);
  state.counters["mb"] = mb;
  if (compare) {
    state.counters["plain_ms"] = median(plain_ms);
    state.counters["ratio"] = median(plain_ms) / median(ms);
    state.counters["plain_mb"] = plain_mb;
    state.counters["error"] = error;
  }
}

void add(const std::string& name, const std::function<Subject()>& make, int repeats) {
  for (const bool step : {false, true}) {
    benchmark::RegisterBenchmark((name + (step ? "/step" : "/forward")).c_str(),
                                 [=](benchmark::State& s) { run(s, make, step); })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond)
        ->Iterations(repeats);
  }
}

Subject attention(const SteerableType& type, int64_t heads, RadialLaw law, std::vector<int64_t> input) {
  SteerableAttentionOptions options;
  options.heads = heads;
  options.positions.law = law;
  options.positions.reach = 21;
  const auto module = std::make_shared<SteerableAttention>(type, options);
  double tokens = 1;
  for (size_t a = 1; a < input.size(); ++a) {
    tokens *= static_cast<double>(input[a]);
  }
  const double bytes = 8 * tokens * tokens * static_cast<double>(type.width() * (input[0] + 2));
  input.insert(input.begin() + 1, 2 * type.width());
  return {module, [module](const Tensor& x) { return (*module)(x); }, input, bytes};
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  using weyl::RadialLaw;
  benchmark::Initialize(&argc, argv);
  const weyl::SteerableType space{3, {64, 32, 16}}, plane{2, std::vector<int64_t>(8, 64)};
  for (const RadialLaw law : {RadialLaw::inverse_square, RadialLaw::table, RadialLaw::none}) {
    const std::string name = "attention/" + std::string(names_of(law)[static_cast<size_t>(law)]);
    const auto in_space = [=](int64_t batch, int64_t side) {
      return [=] { return weyl::attention(space, 4, law, {batch, side, side, side}); };
    };
    weyl::add(name + "/1x8x8x8", in_space(1, 8), 5);
    weyl::add(name + "/1x12x12x12", in_space(1, 12), 3);
    weyl::add(name + "/4x4x4x4", in_space(4, 4), 9);
    weyl::add(name + "/plane/8x9x12", [=] { return weyl::attention(plane, 8, law, {8, 9, 12}); }, 5);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
