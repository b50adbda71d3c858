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

#include "weyl/core/worst_of.h"
#include "weyl/models/steerable/encoder.h"
#include "weyl/models/steerable/layers.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl {
namespace {

using Layer = std::function<Tensor(const Tensor&)>;

/// A layer and what it is measured on. `plain`: bytes that its plain form needs for the forward pass.
struct Subject {
  std::shared_ptr<Module> module;
  Layer layer;
  std::vector<int64_t> input;
  double plain = 0;
  Layer plain_forward;  // in place of the layer under UseReferences, without gradients
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
  const Tensor y = plain && !step && s.plain_forward ? s.plain_forward(x) : s.layer(x);
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
        error = worst_of(error, (found[i] - right[i]).abs().max().item<double>() / scale);
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

Subject attention(const SteerableType& type, int64_t heads, steerable::RadialLaw law,
                  std::vector<int64_t> input) {
  steerable::AttentionOptions options;
  options.heads = heads;
  options.positions.radial = law;
  options.positions.reach = 21;
  const auto module = std::make_shared<steerable::Attention>(type, options);
  double tokens = 1;
  for (size_t a = 1; a < input.size(); ++a) {
    tokens *= static_cast<double>(input[a]);
  }
  const double bytes = 8 * tokens * tokens * static_cast<double>(type.width() * (input[0] + 2));
  input.insert(input.begin() + 1, 2 * type.width());
  return {module, [module](const Tensor& x) { return (*module)(x); }, input, bytes};
}

/// The plain form is torch's convolution with the expanded kernel: at hand in the forward pass, made in a
/// step, and with `made` in the forward pass too.
Subject convolution(const SteerableType& in, const SteerableType& out, int64_t size,
                    std::vector<int64_t> input, bool made) {
  steerable::ConvOptions options;
  options.kernel.rings.size = size;
  options.kernel.rings.rings = size / 2;
  const auto module = std::make_shared<steerable::Conv>(in, out, options);
  const steerable::Kernel kernel(in, out, options.kernel);
  const Tensor expanded = kernel.expand(module->parameters()[0].tensor.detach());
  input.insert(input.begin() + 1, 2 * in.width());
  const std::vector<int64_t> one(static_cast<size_t>(in.dimension), 1),
      padding(static_cast<size_t>(in.dimension), size / 2);
  const Layer dense = [=](const Tensor& x) {
    return in.dimension == 2 ? at::conv2d(x, expanded, {}, one, padding)
                             : at::conv3d(x, expanded, {}, one, padding);
  };
  return {module, [module](const Tensor& x) { return (*module)(x); }, input, 0, made ? Layer() : dense};
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  using weyl::steerable::RadialLaw;
  benchmark::Initialize(&argc, argv);
  const weyl::SteerableType space{3, {64, 32, 16}}, plane{2, std::vector<int64_t>(8, 64)};
  for (const RadialLaw law : {RadialLaw::inverse_square, RadialLaw::table, RadialLaw::none}) {
    const std::string name = "attention/" + std::string(names_of(law)[static_cast<size_t>(law)]);
    const auto in_space = [=](int64_t batch, int64_t side) {
      return [=] { return weyl::attention(space, 4, law, {batch, side, side, side}); };
    };
    weyl::add(name + "/1x8x8x8", in_space(1, 8), 5);
    weyl::add(name + "/1x12x12x12", in_space(1, 12), 3);
    weyl::add(
        name + "/1x12x12x12/one_head_of_four",
        [=] { return weyl::attention({3, {16, 8, 4}}, 1, law, {1, 12, 12, 12}); }, 3);
    weyl::add(name + "/4x4x4x4", in_space(4, 4), 9);
    weyl::add(name + "/plane/8x9x12", [=] { return weyl::attention(plane, 8, law, {8, 9, 12}); }, 5);
  }
  const auto conv = [](const char* name, const weyl::SteerableType& in, const weyl::SteerableType& out,
                       int64_t size, const std::vector<int64_t>& input, bool made = false) {
    weyl::add("conv/" + std::string(name), [=] { return weyl::convolution(in, out, size, input, made); }, 9);
  };
  const auto orders = [](int64_t k, int64_t channels) {
    return weyl::SteerableType{2, std::vector<int64_t>(k, channels)};
  };
  const weyl::SteerableType half{3, {32, 16, 8}};
  conv("space/32_64/k5/1x14x14x10", half, space, 5, {1, 14, 14, 10});
  conv("space/64_32/k5/1x14x14x10", space, half, 5, {1, 14, 14, 10});
  conv("space/8_16/k5/1x33x33x33", {3, {8, 4, 2}}, {3, {16, 8, 4}}, 5, {1, 33, 33, 33});
  conv("space/16_4/k7/1x33x33x33", {3, {16, 8, 4}}, {3, {4}}, 7, {1, 33, 33, 33});
  conv("space/1_8/k3/4x16x16x16", {3, {1}}, {3, {8, 4, 2}}, 3, {4, 16, 16, 16});
  conv("space/64_32/k3/4x4x4x4", space, half, 3, {4, 4, 4, 4});
  conv("plane/K8/24_48/k5/1x28x28", orders(8, 24), orders(8, 48), 5, {1, 28, 28});
  conv("plane/K8/24_48/k5/1x28x28/kernel_made", orders(8, 24), orders(8, 48), 5, {1, 28, 28}, true);
  conv("plane/K8/24_48/k5/16x28x28", orders(8, 24), orders(8, 48), 5, {16, 28, 28});
  conv("plane/K4/24_48/k5/16x28x28", orders(4, 24), orders(4, 48), 5, {16, 28, 28});
  conv("plane/K4/1_24/k5/16x28x28", orders(1, 1), orders(4, 24), 5, {16, 28, 28});
  conv("plane/K8/48_96/k3/16x7x7", orders(8, 48), orders(8, 96), 3, {16, 7, 7});
  conv("plane/K8/8_16/k5/1x128x128", orders(8, 8), orders(8, 16), 5, {1, 128, 128});
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
