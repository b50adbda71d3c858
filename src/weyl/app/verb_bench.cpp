#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/subject.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/study/bench.h"
#include "weyl/study/random_tokens.h"

namespace weyl {
namespace {

// What is timed: the batch of the config's [bench], else a training batch of its data set, else random tokens
// of as many.
Batch bench_batch(Subject& subject) {
  const Recipe& recipe = subject.recipe;
  const int64_t nodes = std::max<int64_t>(1, std::llround(subject.model->interface.typical_nodes));
  const std::string path = path_of(recipe.data);
  if (recipe.bench || subject.task == nullptr || !std::filesystem::exists(path)) {
    subject.task = nullptr;  // random tokens have no labels: the loss is the mean square of the outputs
    const BenchTable table = recipe.bench.value_or(BenchTable{recipe.train.batch, nodes});
    return random_tokens(subject.schema, table.graphs, table.nodes, 0);
  }
  const auto data = open_data(recipe, "", "train");
  subject.task->fit(*data);
  std::vector<int64_t> indices(static_cast<size_t>(std::min(recipe.train.batch, data->size())));
  std::iota(indices.begin(), indices.end(), 0);
  return data->batch(indices);
}

Json to_json(const BenchCase& c) {
  Json json = Json::object();
  json.set("name", c.name)
      .set("forward_ms", c.kernels.forward_ms)
      .set("train_step_ms", c.kernels.train_step_ms)
      .set("peak_mb", c.kernels.peak_mb)
      .set("parameters", c.parameters)
      .set("tokens", c.tokens)
      .set("gflops", c.gflops)
      .set("percent_of_peak", c.percent_of_peak)
      .set("reference_forward_ms", c.reference.forward_ms)
      .set("reference_train_step_ms", c.reference.train_step_ms)
      .set("reference_peak_mb", c.reference.peak_mb)
      .set("matmul_ms", c.matmul_ms)
      .set("matmul_train_step_ms", c.matmul_train_step_ms)
      .set("forward_speedup", c.forward_speedup.median)
      .set("train_step_speedup", c.train_step_speedup.median)
      .set("forward_over_matmul", c.forward_over_matmul.median)
      .set("train_step_over_matmul", c.train_step_over_matmul.median)
      .set("error", c.error);
  return json;
}

void print(const BenchCase& c) {
  const auto side = [](const char* name, const BenchSide& s) {
    std::cout << "  " << std::left << std::setw(22) << name << std::right << std::setw(11) << s.forward_ms
              << std::setw(13) << s.train_step_ms << std::setw(10) << s.peak_mb << "\n";
  };
  std::cout << std::fixed << std::setprecision(2);
  std::cout << c.name << ": " << c.parameters << " parameters, " << c.tokens << " tokens\n"
            << "                        forward ms   train step ms  peak MB\n";
  side("kernels", c.kernels);
  side("torch expressions", c.reference);
  side("matrix products alone", {c.matmul_ms, c.matmul_train_step_ms, 0});
  const auto ratio = [](const char* name, const BenchRatio& forward, const BenchRatio& train_step) {
    const auto number = [](const BenchRatio& r) {
      std::cout << r.median << " (" << r.low << " to " << r.high << ")";
    };
    std::cout << "  " << name << ": forward ";
    number(forward);
    std::cout << ", train step ";
    number(train_step);
    std::cout << "\n";
  };
  ratio("torch expressions / kernels", c.forward_speedup, c.train_step_speedup);
  ratio("kernels / matrix products", c.forward_over_matmul, c.train_step_over_matmul);
  std::cout << "  " << c.gflops << " GFLOP/s, " << c.percent_of_peak
            << " % of a large matrix product's; error " << std::scientific << c.error << "\n"
            << std::defaultfloat;
}

}  // namespace

int run(const BenchCommand& command) {
  std::vector<std::string> paths{command.config.path};
  paths.insert(paths.end(), command.compare.begin(), command.compare.end());
  const at::Device device = device_of(command.machine);
  BenchOptions options;
  options.repeats = command.repeats;
  Json cases = Json::array();
  for (const std::string& path : paths) {
    require<ConfigError>(is_config(path), "weyl bench: must be given a config (.toml), got ", path);
    Subject subject =
        build_subject({path, command.config.overrides}, device, dtype_of(command.machine.dtype));
    const Batch batch = to(bench_batch(subject), device, subject.model->dtype());
    const std::string name = std::filesystem::path(path).stem().string();
    say("timing " + name);
    const BenchCase result = bench(name, *subject.model, subject.task.get(), batch, options);
    if (command.talk.json) {
      cases.add(to_json(result));
    } else {
      print(result);
    }
  }
  if (command.talk.json) {
    std::cout << Json::object().set("cases", cases).dump() << "\n";
  }
  return exit_done;
}

}  // namespace weyl
