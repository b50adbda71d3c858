// A whole tiny system outside the library: options that a config sets, a layer, a model, and a program that
// makes its data, trains it and audits it,
//
//   skeleton skeleton.toml [key=value ...]
//
// To make it a system of the program, do what docs/map.md says under "To add a model": this folder goes to
// src/weyl/models/skeleton/, its options into the list in models/options.h, its constructor into
// models/systems.cpp. Training, checkpoints, audits, benchmarks and configs then know it.
//
// Exit code 1 when the audit fails or a straight line is better.
#include <weyl/config/toml.h>
#include <weyl/data/makers/nbody.h>
#include <weyl/data/sets/nbody.h>
#include <weyl/study/audit.h>
#include <weyl/tasks/trajectory.h>
#include <weyl/train/accumulate.h>
#include <weyl/train/evaluate.h>
#include <weyl/train/loading.h>
#include <weyl/train/optimiser.h>
#include <weyl/train/schedule.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <numeric>

#include "model.h"

namespace skeleton {

/// What skeleton.toml holds.
struct Recipe {
  weyl::NbodyDataOptions data;
  weyl::TrajectoryOptions task;
  SkeletonOptions model;
  weyl::TrainOptions train;
};
void fields(weyl::Fields& f, Recipe& r) {
  f("data", r.data, "what is learned from");
  f("task", r.task, "what is learned");
  f("model", r.model, "what learns");
  f("train", r.train, "how it learns");
}

weyl::Splits open_or_make(const weyl::NbodyDataOptions& options) {
  if (!std::filesystem::exists(options.path)) {
    weyl::make_nbody({.train = options.train, .valid = options.valid, .test = options.test}, options.path);
  }
  return weyl::open_nbody(options);
}

void train(weyl::Model& model, const weyl::Task& task, std::shared_ptr<const weyl::Dataset> data,
           const weyl::TrainOptions& options) {
  weyl::Loader loader(std::move(data), weyl::loader_options(options, model), options.seed);
  weyl::Optimiser optimiser(model.parameters(), options.optimiser);
  const weyl::Schedule schedule(options);
  weyl::StepTimes times;
  for (weyl::Elapsed now; !schedule.finished(now); now.epoch += 1) {
    loader.start(static_cast<int64_t>(now.epoch));
    while (const auto batch = loader.next()) {
      weyl::accumulate_gradients(model, task, {&*batch, 1}, options.precision, times);
      optimiser.clip_gradients();
      optimiser.step(schedule.factor(now));
      optimiser.clear_gradients();
      ++now.step;
    }
  }
}

int run(const Recipe& recipe) {
  const weyl::Splits data = open_or_make(recipe.data);
  weyl::Trajectory task(recipe.task);
  task.fit(*data.train);
  Skeleton model(recipe.model, task.interface(data.train->schema()));
  std::printf("skeleton: %ld parameters\n", static_cast<long>(model.parameter_count()));
  train(model, task, data.train, recipe.train);

  double straight_line = 0;
  for (const auto& [name, metrics] : task.baselines(*data.valid)) {
    std::printf("%-20s mse %.4f\n", name.c_str(), metrics.at("mse").value);
    straight_line = name == "straight line" ? metrics.at("mse").value : straight_line;
  }
  const double mse = weyl::evaluate(model, task, data.valid).metrics.at("mse").value;
  std::printf("%-20s mse %.4f\n", "skeleton", mse);

  std::vector<int64_t> some(16);
  std::iota(some.begin(), some.end(), 0);
  const auto report = weyl::audit(model, &task, data.valid->batch(some), data.valid->schema());
  for (const auto& claim : report.claims) {
    std::printf("%-14s %-24s %-8s error %.1e %s\n", claim.group.c_str(), claim.output.c_str(),
                claim.dtype.c_str(), claim.error, claim.passed ? "holds" : "FAILS");
  }
  return report.passed && mse < straight_line ? 0 : 1;
}

}  // namespace skeleton

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    return std::fprintf(stderr, "usage: skeleton CONFIG [key=value ...]\n"), 2;
  }
  skeleton::Recipe recipe;
  weyl::read_config(words[0], std::span(words).subspan(1), recipe);
  return skeleton::run(recipe);
} catch (const std::exception& error) {
  return std::fprintf(stderr, "skeleton: %s\n", error.what()), 2;
}
