// Two Platonic blocks on 96 graphs of 18 tokens: kernels, torch expressions, the authors' scattered pairs,
// and their matrix products alone, in one interleaved run. Arguments: [group width heads graphs nodes
// threads].
#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "weyl/models/systems.h"
#include "weyl/study/bench.h"
#include "weyl/study/random_tokens.h"

int main(int argc, char** argv) {
  using namespace weyl;
  const auto argument = [&](int i, long fallback) { return argc > i ? std::atol(argv[i]) : fallback; };
  PlatonicOptions options;
  options.group = argc > 1 ? argv[1] : "octahedron";
  options.width = argument(2, 1152);
  options.heads = argument(3, 72);
  options.blocks = 2;
  options.rope_on_values = true;
  options.ffn_readout = false;
  at::set_num_threads(static_cast<int>(argument(6, 2)));
  Schema schema;
  schema.interface.dimension = 3;
  schema.interface.typical_nodes = 18;
  schema.interface.features.push_back(
      {.name = "charge", .level = Level::node, .kind = Kind::scalar, .channels = 3});
  schema.interface.outputs.push_back(
      {.name = "energy", .level = Level::graph, .kind = Kind::scalar, .channels = 1});
  ModelOptions choice;
  choice.system = options;
  const auto model = build(choice, schema.interface, Carrier::points);
  const Batch batch = to(random_tokens(schema, argument(4, 96), argument(5, 18), 1), at::kCPU, at::kFloat);
  const BenchCase c =
      bench("platonic", *model, nullptr, batch, {.repeats = 9, .reference = true, .scattered = true});
  std::printf("%-22s %12s %14s %10s\n", "", "forward ms", "train step ms", "peak MB");
  const auto row = [](const char* name, const BenchSide& s) {
    std::printf("%-22s %12.1f %14.1f %10.0f\n", name, s.forward_ms, s.train_step_ms, s.peak_mb);
  };
  row("kernels", c.kernels);
  row("torch expressions", c.reference);
  row("scattered pairs", c.scattered);
  std::printf("%-22s %12.1f %14.1f\n", "matrix products alone", c.matmul_ms, c.matmul_train_step_ms);
  std::printf(
      "kernels / products: forward %.3f, train step %.3f; scattered / kernels: forward %.2f, train step "
      "%.2f, memory %.2f\n",
      c.kernels.forward_ms / c.matmul_ms, c.kernels.train_step_ms / c.matmul_train_step_ms,
      c.scattered.forward_ms / c.kernels.forward_ms, c.scattered.train_step_ms / c.kernels.train_step_ms,
      c.scattered.peak_mb / c.kernels.peak_mb);
  std::printf("%.0f GFLOP/s, %.0f %% of a large product; largest difference %.2g\n", c.gflops,
              c.percent_of_peak, c.error);
}
