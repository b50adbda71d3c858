// Lie-algebra attention: three layers on N tokens of SE(3), the streaming kernel beside the plain torch
// expression (logarithms of all pairs once, shared by the layers), forward alone and a training step
// (gradients by values and block weights; with `elements` by the poses too), interleaved, on one thread.
// Times are of the processor, which a busy machine does not stretch. Counters: ms of either, their ratio, the
// largest difference, and the memory that tensors took beyond their inputs. `scan/` goes over N
// (scripts/attention_plot), the plain expression as far as it is told to fit: WEYL_PLAIN_TOKENS (2048: 3 GB),
// in a training step half of them.
#include <benchmark/benchmark.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "weyl/core/random.h"
#include "weyl/core/worst_of.h"
#include "weyl/ops/autograd/differentiable.h"
#include "weyl/ops/lie/attention.h"
#include "weyl/ops/lie/elements.h"
#include "weyl/study/cost/allocation_peak.h"

namespace weyl {
namespace {

constexpr int64_t layers = 3, heads = 4, width = 16;
enum class Pass { forward, step, elements };

Tensor normal(const char* name, std::vector<int64_t> shape, double scale) {
  Stream stream(1, name);
  Tensor x = at::empty(shape, at::kFloat);
  auto* p = x.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    p[i] = static_cast<float>(scale * stream.normal());
  }
  return x;
}

double processor_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
}

struct Inputs {
  LieGroup group;
  Segments graphs;
  Tensor elements, values;
  std::vector<Tensor> weights;

  Inputs(LieGroup g, int64_t graph_count, int64_t nodes, Pass pass) : group(g) {
    graphs = Segments::of_sizes(std::vector<int64_t>(graph_count, nodes));
    const int64_t n = graphs.rows();
    elements = lie::exp(normal("tangents", {n, degrees_of_freedom(g)}, 0.4), g).detach();
    elements.requires_grad_(pass == Pass::elements);
    values = normal("values", {n, heads, width}, 1).requires_grad_(pass != Pass::forward);
    for (int64_t l = 0; l < layers; ++l) {
      const auto blocks = static_cast<int64_t>(blocks_of(g).size());
      weights.push_back(normal("weights", {heads, blocks}, 0.3).exp().requires_grad_(pass != Pass::forward));
    }
  }
};

/// {values of the last layer, gradients ...}
Tensors values(const Inputs& in, Pass pass, bool plain) {
  at::AutoGradMode mode(pass != Pass::forward);
  const auto scope = plain ? std::make_unique<UseReferences>() : nullptr;
  const bool at_hand = plain || (in.graphs.longest() <= 64 && pass != Pass::elements);  // as models choose
  const lie::Pairs pairs =
      at_hand ? lie::pairs_between(in.elements, in.graphs, in.group, ChartPolicy::mask) : lie::Pairs();
  Tensor x = in.values;
  for (const Tensor& w : in.weights) {
    const lie::Attention y = at_hand
                                 ? lie::attention(pairs, x, w, in.graphs)
                                 : lie::attention(in.elements, x, w, in.graphs, in.group, ChartPolicy::mask);
    x = x + y.mixed + y.coordinates.sum(2, true);
  }
  Tensors found{x.detach()};
  if (pass != Pass::forward) {
    Tensors wanted{in.values, in.weights[0], in.weights[1], in.weights[2]};
    if (pass == Pass::elements) {
      wanted.push_back(in.elements);
    }
    const Tensors g = torch::autograd::grad({x.square().mean()}, wanted);
    found.insert(found.end(), g.begin(), g.end());
  }
  return found;
}

void run(benchmark::State& state, LieGroup group, int64_t graphs, int64_t nodes, Pass pass, bool compare) {
  at::set_num_threads(1);
  const Inputs in(group, graphs, nodes, pass);
  std::vector<double> kernel_ms, plain_ms;
  double kernel_mb = 0, plain_mb = 0, error = 0;
  const auto timed = [&](bool plain, std::vector<double>& ms, double& mb) {
    const AllocationPeak peak;
    const double start = processor_ms();
    Tensors found = values(in, pass, plain);
    ms.push_back(processor_ms() - start);
    mb = static_cast<double>(peak.bytes()) / 1e6;
    return found;
  };
  for (auto _ : state) {
    const Tensors found = timed(false, kernel_ms, kernel_mb);
    state.SetIterationTime(kernel_ms.back() / 1e3);
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
  const auto pairs = static_cast<double>(in.graphs.pairs() * layers);
  state.counters["ms"] = median(kernel_ms);
  state.counters["ns_a_pair"] = 1e6 * median(kernel_ms) / pairs;
  state.counters["mb"] = kernel_mb;
  if (compare) {
    state.counters["plain_ms"] = median(plain_ms);
    state.counters["ratio"] = median(plain_ms) / median(kernel_ms);
    state.counters["plain_mb"] = plain_mb;
    state.counters["error"] = error;
  }
}

void add(LieGroup group, int64_t graphs, int64_t nodes, Pass pass, bool compare, int repeats,
         const std::string& before = "") {
  constexpr const char* passes[] = {"forward", "step", "step_with_elements"};
  const std::string name = before + std::string(name_of(group)) + "/" + std::to_string(graphs) + "x" +
                           std::to_string(nodes) + "/" + passes[static_cast<int>(pass)];
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& s) { run(s, group, graphs, nodes, pass, compare); })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond)
      ->Iterations(repeats);
}

}  // namespace
}  // namespace weyl

int main(int argc, char** argv) {
  using weyl::LieGroup;
  using weyl::Pass;
  benchmark::Initialize(&argc, argv);
  for (const Pass pass : {Pass::forward, Pass::step, Pass::elements}) {
    weyl::add(LieGroup::se3, 1, 1024, pass, true, 5);
    for (const LieGroup group : {LieGroup::se2, LieGroup::so3, LieGroup::aff2, LieGroup::aff3}) {
      weyl::add(group, 64, 7, pass, true, 15);
    }
  }
  const char* told = std::getenv("WEYL_PLAIN_TOKENS");
  const int64_t plain = told != nullptr ? std::atoll(told) : 2048;
  for (const Pass pass : {Pass::forward, Pass::step}) {
    for (int64_t nodes = 128; nodes <= 16384; nodes *= 2) {
      const int repeats = nodes <= 512 ? 9 : nodes <= 1024 ? 3 : 1;
      weyl::add(LieGroup::se3, 1, nodes, pass, nodes <= (pass == Pass::step ? plain / 2 : plain), repeats,
                "scan/");
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
