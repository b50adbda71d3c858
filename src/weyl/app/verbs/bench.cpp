#include <ATen/Parallel.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string_view>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/carriers/loader.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/text_number.h"
#include "weyl/predict/subject.h"
#include "weyl/study/cost/bench.h"
#include "weyl/study/cost/engine_times.h"
#include "weyl/study/cost/sum_times.h"
#include "weyl/study/cost/training_steps.h"
#include "weyl/study/samples/grid_samples.h"
#include "weyl/study/samples/random_samples.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/loading.h"

namespace weyl {
namespace {

Schema unlabelled(Schema schema) {
  schema.labels.clear();
  return schema;
}

// What is trained on: random tokens as the config's [bench] says (molecules with labels where a force field
// is learned), else its data set, else one batch of random tokens.
std::shared_ptr<const Dataset> bench_data(Subject& subject) {
  const Recipe& recipe = subject.recipe;
  if (recipe.bench || subject.task == nullptr || !std::filesystem::exists(path_of(recipe.data))) {
    const int64_t nodes = std::max<int64_t>(1, std::llround(subject.model->interface.typical_nodes));
    const BenchTable table = recipe.bench.value_or(BenchTable{recipe.train.batch, nodes});
    if (subject.task != nullptr && learns_a_potential(*subject.task, subject.schema)) {
      auto molecules = random_molecules(subject.schema, table.graphs, table.nodes, 0);
      require_labels(*subject.task, molecules->schema());
      subject.task->fit(*molecules);
      return molecules;
    }
    subject.task = nullptr;  // random tokens have no labels: the loss is the mean square of the outputs
    Schema asked = subject.schema;
    asked.labels = subject.model->interface.outputs;  // which say whether there are objects
    const Batch random = subject.schema.carrier() == Carrier::grid
                             ? random_grids(subject.schema, table.graphs, shape_of_grids(subject), 0)
                             : random_tokens(asked, table.graphs, table.nodes, 0);
    return std::make_shared<InMemory>(random, unlabelled(subject.schema));
  }
  auto data = open_data(recipe, "", "train");
  subject.task->fit(*data);
  return data;
}

// As training cuts it.
Batch first_batch(const std::shared_ptr<const Dataset>& data, const TrainOptions& options,
                  const Subject& subject) {
  Loader loader(data, loader_options(options, *subject.model, subject.task.get()), 0);
  loader.start(0);
  return loader.next().value();
}

// One, two and all threads, and last the number that is taken; where somebody says how many, none above.
std::vector<int64_t> numbers_of_threads(int64_t all) {
  std::vector<int64_t> numbers{1, all, at::get_num_threads()};
  if (all >= 2) {
    numbers.insert(numbers.begin(), 2);
  }
  return numbers;
}

std::string threads_text(int64_t number) {
  return text(number, number == 1 ? " thread" : " threads");
}

void warn_of_threads(const std::string& name, const ThreadTimes& times) {
  if (const int64_t fewer = times.fewer_and_faster(); fewer > 0) {
    std::ostringstream line;
    line << std::fixed << std::setprecision(2) << name << ": " << threads_text(fewer)
         << ": a training step of " << times.step_ms.at(fewer) << " ms, with the " << times.threads
         << " taken " << times.step_ms.at(times.threads) << " ms: --threads " << fewer << " is faster";
    warn(line.str());
  }
}

/// Asks for the places where the host waits for a device.
bool places_are_asked() {
  const char* value = std::getenv("WEYL_HOST_WAITS");
  return value != nullptr && std::string_view(value) == "trace";
}

void say_places(const BenchCase& c) {
  for (const auto& [place, waits] : c.wait_places) {
    std::cerr << c.name << ": the host waits " << waits << " times a step in\n" << place;
  }
}

bool timed(const BenchSide& side) {
  return side.train_step_ms > 0;
}

void set_reference(const BenchCase& c, Json& json) {
  json.set("reference_forward_ms", c.reference.forward_ms)
      .set("reference_predict_ms", c.reference.predict_ms)
      .set("reference_train_step_ms", c.reference.train_step_ms)
      .set("reference_peak_mb", c.reference.peak_mb)
      .set("forward_speedup", c.forward_speedup.median)
      .set("predict_speedup", c.predict_speedup.median)
      .set("train_step_speedup", c.train_step_speedup.median)
      .set("error", c.error);
}

void set_other(const BenchCase& c, Json& json) {
  json.set("other_forward_ms", c.other.forward_ms)
      .set("other_predict_ms", c.other.predict_ms)
      .set("other_train_step_ms", c.other.train_step_ms)
      .set("other_peak_mb", c.other.peak_mb)
      .set("forward_of_other", c.forward_of_other.median)
      .set("predict_of_other", c.predict_of_other.median)
      .set("train_step_of_other", c.train_step_of_other.median);
  if (c.error_of_other) {
    json.set("error_of_other", *c.error_of_other);
  }
}

Json case_json(const BenchCase& c, const StepTimes& parts, const ThreadTimes& threads) {
  Json by_threads = Json::object();
  for (const auto& [number, ms] : threads.step_ms) {
    by_threads.set(std::to_string(number), ms);
  }
  const double per_step = 1e3 / static_cast<double>(parts.steps);
  Json json = Json::object();
  json.set("name", c.name)
      .set("device", c.device)
      .set("forward_ms", c.kernels.forward_ms)
      .set("predict_ms", c.kernels.predict_ms)
      .set("train_step_ms", c.kernels.train_step_ms)
      .set("peak_mb", c.kernels.peak_mb)
      .set("parameters", c.parameters)
      .set("tokens", c.tokens)
      .set("tokens_per_second", c.tokens_per_second)
      .set("gflops", c.gflops)
      .set("dense_gflops", c.dense_gflops)
      .set("percent_of_peak", c.percent_of_peak)
      .set("matmul_ms", c.matmul_ms)
      .set("matmul_train_step_ms", c.matmul_train_step_ms)
      .set("forward_over_matmul", c.forward_over_matmul.median)
      .set("train_step_over_matmul", c.train_step_over_matmul.median)
      .set("threads", threads.threads)
      .set("step_ms_by_threads", by_threads)
      .set("train_step_parts_ms", Json::object()
                                      .set("batch", parts.batch * per_step)
                                      .set("forward", parts.forward * per_step)
                                      .set("backward", parts.backward * per_step)
                                      .set("optimiser", parts.optimiser * per_step)
                                      .set("logging", parts.logging * per_step));
  if (c.host_waits) {
    json.set("host_waits", *c.host_waits);
  }
  if (timed(c.reference)) {
    set_reference(c, json);
  }
  if (timed(c.other)) {
    set_other(c, json);
  }
  return json;
}

void print_parts(const StepTimes& parts) {
  std::cout << "\n  a training step of " << 1e3 * parts.step_seconds() / static_cast<double>(parts.steps)
            << " ms:";
  const auto part = [&](const char* name, double seconds) {
    std::cout << " " << name << " " << 100 * seconds / parts.step_seconds() << " %";
  };
  part("batch", parts.batch);
  part("forward", parts.forward);
  part("backward", parts.backward);
  part("optimiser", parts.optimiser);
  part("logging", parts.logging);
}

void print_case(const BenchCase& c, const std::string& against, const StepTimes& parts,
                const ThreadTimes& threads) {
  const auto side = [](const char* name, const BenchSide& s) {
    const auto number = [](double x, int width) {  // not measured: nothing
      std::cout << std::setw(width);
      if (x > 0) {
        std::cout << x;
      } else {
        std::cout << "";
      }
    };
    std::cout << "  " << std::left << std::setw(22) << name << std::right;
    number(s.forward_ms, 11);
    number(s.predict_ms, 13);
    number(s.train_step_ms, 16);
    number(s.peak_mb, 10);
    std::cout << "\n";
  };
  std::cout << std::fixed << std::setprecision(2);
  std::cout << c.name << " on " << c.device << ": " << c.parameters << " parameters, " << c.tokens
            << " tokens\n"
            << "                        forward ms   predict ms   train step ms   peak MB\n";
  side("kernels", c.kernels);
  if (!against.empty()) {
    side("other options", c.other);
  }
  if (timed(c.reference)) {
    side("torch expressions", c.reference);
  }
  side("matrix products alone", {c.matmul_ms, 0, c.matmul_train_step_ms, 0});
  const auto ratio = [](const char* what, const BenchRatio& r) {
    std::cout << what << r.median << " (" << r.low << " to " << r.high << ")";
  };
  const auto side_by_kernels = [&](const std::string& name, const BenchRatio& forward,
                                   const BenchRatio& predict, const BenchRatio& train_step) {
    ratio(("  " + name + " / kernels: forward ").c_str(), forward);
    if (predict.median > 0) {
      ratio(", predict ", predict);
    }
    ratio(", train step ", train_step);
  };
  if (timed(c.reference)) {
    side_by_kernels("torch expressions", c.forward_speedup, c.predict_speedup, c.train_step_speedup);
    std::cout << "\n";
  }
  if (!against.empty()) {
    side_by_kernels(against, c.forward_of_other, c.predict_of_other, c.train_step_of_other);
    if (c.error_of_other) {
      std::cout << ", difference " << std::scientific << *c.error_of_other << std::fixed;
    }
    std::cout << "\n";
  }
  ratio("  kernels / matrix products: forward ", c.forward_over_matmul);
  ratio(", train step ", c.train_step_over_matmul);
  std::cout << "\n";
  std::cout << "  " << c.gflops << " GFLOP/s, " << c.percent_of_peak << " % of a large matrix product's";
  if (c.dense_gflops > c.gflops) {
    std::cout << " (dense matrices would need " << c.dense_gflops << " for this time)";
  }
  if (timed(c.reference)) {
    std::cout << "; error " << std::scientific << c.error << std::fixed;
  }
  std::cout << "\n  " << c.tokens_per_second << " tokens/s in train steps";
  if (c.host_waits) {
    std::cout << "; the host waits for the device " << *c.host_waits << " times a step";
  }
  print_parts(parts);
  std::cout << "\n  taken: " << threads_text(threads.threads);
  if (!threads.step_ms.empty()) {
    std::cout << "; a training step by threads:";
  }
  for (const auto& [number, ms] : threads.step_ms) {
    std::cout << " " << number << ": " << ms << " ms";
  }
  std::cout << "\n" << std::defaultfloat;
}

// What is asked of a potential at work; on one thread, unless another number is said.
void bench_engine(const BenchCommand& command, const std::string& path, Subject subject, Json& cases) {
  require<ConfigError>(subject.task != nullptr && learns_a_potential(*subject.task, subject.schema), path,
                       ": --engine needs a config whose task is force_field");
  bench_data(subject);  // to which the task is fitted
  subject.trained = true;
  at::set_num_threads(static_cast<int>(std::max<int64_t>(1, command.machine.threads)));
  const std::string name = std::filesystem::path(path).stem().string();
  const char* dtype = subject.model->dtype() == at::kDouble ? "float64" : "float32";
  const FilePredictor predictor(std::move(subject), predictor_options(command.machine));
  for (const EngineCase& c : time_engine(predictor, command.repeats)) {
    if (command.output.json) {
      cases.add(Json::object()
                    .set("name", name)
                    .set("atoms", c.atoms)
                    .set("periodic", c.periodic)
                    .set("dtype", dtype)
                    .set("threads", static_cast<int64_t>(at::get_num_threads()))
                    .set("engine_ms", c.ms)
                    .set("autograd_ms", c.autograd_ms)
                    .set("of_autograd", c.of_autograd.median)
                    .set("error", c.error));
      continue;
    }
    std::cout << std::fixed << std::setprecision(2) << name << ", " << c.atoms
              << (c.periodic ? " periodic" : "") << " atoms, " << dtype << ": " << c.ms << " ms, by autograd "
              << c.autograd_ms << " ms, of it " << c.of_autograd.median << " (" << c.of_autograd.low << " to "
              << c.of_autograd.high << "), difference " << std::scientific << c.error << "\n"
              << std::defaultfloat;
  }
}

}  // namespace

namespace {

/// The sums of gradients alone.
int bench_ranks(const BenchCommand& command, const std::shared_ptr<Ranks>& ranks) {
  const std::vector<SumTime> times = time_sums(*ranks, device_of(command.machine, ranks), command.repeats);
  if (!is_first(ranks)) {
    return exit_done;
  }
  Json sums = Json::array();
  std::vector<std::vector<std::string>> table{{"MB", "ms", "quartiles", "GB/s"}};
  for (const SumTime& t : times) {
    sums.add(Json::object()
                 .set("megabytes", t.megabytes)
                 .set("ms", t.ms)
                 .set("ms_lower_quartile", t.lower)
                 .set("ms_upper_quartile", t.upper)
                 .set("gigabytes_per_second", t.gigabytes_a_second()));
    table.push_back({std::to_string(t.megabytes), short_number(t.ms),
                     short_number(t.lower) + " to " + short_number(t.upper),
                     short_number(t.gigabytes_a_second())});
  }
  if (command.output.json) {
    std::cout
        << Json::object().set("ranks", ranks->size()).set("repeats", command.repeats).set("sums", sums).dump()
        << "\n";
  } else {
    std::cout << "the sum of a tensor over " << ranks->size() << " ranks, medians of " << command.repeats
              << "\n"
              << aligned(table) << "\n";
  }
  return exit_done;
}

}  // namespace

int run(const BenchCommand& command, const Systems& systems) {
  if (command.config.path.empty()) {
    RankProcesses processes(command.ranks, command.machine);
    return processes.run([&] { return bench_ranks(command, processes.ranks()); });
  }
  std::vector<std::string> paths{command.config.path};
  paths.insert(paths.end(), command.compare.begin(), command.compare.end());
  const at::Device device = device_of(command.machine);
  BenchOptions options;
  options.repeats = command.repeats;
  options.wait_places = places_are_asked();
  Json cases = Json::array();
  const int64_t all = at::get_num_threads();
  for (const std::string& path : paths) {
    const KeepThreads keep;
    require<ConfigError>(is_config(path), "weyl bench: must be given a config (.toml), got ", path);
    Subject subject = build_subject(read_recipe(path, command.config.overrides, options_of(systems)), device,
                                    dtype_of(command.machine.dtype), systems);
    warn_each(subject.recipe.warnings);
    if (const TrainOptions& train = subject.recipe.train; train.tf32 || train.precision == Precision::bf16) {
      const bool both = train.tf32 && train.precision == Precision::bf16;
      warn(text(path, ": ",
                both         ? "train.tf32 and train.precision = \"bf16\" have"
                : train.tf32 ? "train.tf32 has"
                             : "train.precision = \"bf16\" has",
                " no effect on weyl bench, which times whole products of --dtype"));
    }
    if (command.engine) {
      bench_engine(command, path, std::move(subject), cases);
      continue;
    }
    const BenchTable table = subject.recipe.bench.value_or(BenchTable{});
    options.plain_attention = table.plain_attention;
    options.reference = table.expressions;
    const auto data = bench_data(subject);
    std::vector<int64_t> first(static_cast<size_t>(
        subject.recipe.bench ? data->size() : std::min(subject.recipe.train.batch, data->size())));
    std::iota(first.begin(), first.end(), 0);
    TrainOptions training = subject.recipe.train;
    const bool as_given = training.crop.empty() || subject.recipe.bench;
    Batch drawn = as_given ? data->batch(first) : first_batch(data, training, subject);
    if (as_given && subject.task != nullptr && !device.is_cpu()) {  // as the loader does with its own
      subject.task->prepare(drawn, subject.model->interface);
    }
    const Batch batch = to(drawn, device, subject.model->dtype());
    training.batch = batch.count();
    take_threads(command.machine.threads, device,
                 training_flops(*subject.model, subject.task.get(), static_cast<double>(batch.tokens())));
    const std::string name = std::filesystem::path(path).stem().string();
    say("timing " + name);
    std::optional<Subject> other;
    if (!command.against.empty()) {
      std::vector<std::string> overrides = command.config.overrides;
      overrides.insert(overrides.end(), command.against.begin(), command.against.end());
      other = build_subject(read_recipe(path, overrides, options_of(systems)), device,
                            dtype_of(command.machine.dtype), systems);
      options.other = other->model.get();
    }
    const BenchCase result = bench(name, *subject.model, subject.task.get(), batch, options);
    // For two seconds: the parts of a short step need more of them.
    const auto steps = static_cast<int64_t>(std::min(200.0, 2000 / result.kernels.train_step_ms));
    const StepTimes parts = time_training_steps(*subject.model, subject.task.get(), data, training,
                                                std::max(steps, command.repeats));
    ThreadTimes threads{at::get_num_threads(), {}, {}};
    if (device.is_cpu()) {  // elsewhere steps are not the threads' work
      threads = time_threads(*subject.model, subject.task.get(), batch, numbers_of_threads(all));
    }
    if (command.output.json) {
      cases.add(case_json(result, parts, threads));
    } else {
      std::string against;
      for (const std::string& override : command.against) {
        against += (against.empty() ? "" : " ") + override;
      }
      print_case(result, against, parts, threads);
    }
    warn_of_threads(name, threads);
    say_places(result);
  }
  if (command.output.json) {
    std::cout << Json::object().set("cases", cases).dump() << "\n";
  }
  return exit_done;
}

}  // namespace weyl
