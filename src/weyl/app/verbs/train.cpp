#include "weyl/app/verbs/train.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "weyl/app/draw/picture_data.h"
#include "weyl/app/draw/pictures.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/saved/predictor.h"
#include "weyl/train/run/journal.h"
#include "weyl/train/train.h"

namespace weyl {
namespace {

std::string number_text(double value, const char* format = "%.4g") {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// What the trainer does, as lines and a bar.
class Console : public TrainObserver {
 public:
  Console(bool quiet, bool resumed) : style_(Progress::style_for_stderr(quiet)), resumed_(resumed) {}

  // The simple answers that the model is measured beside come first.
  void opened(const Splits& data, const Task& task) override {
    data_ = data;
    std::set<std::string> warnings;  // of one file all splits have the same
    for (const auto& split : {data.train, data.valid, data.test}) {
      if (split != nullptr) {
        warnings.insert(split->schema().warnings.begin(), split->schema().warnings.end());
      }
    }
    for (const std::string& warning : warnings) {
      warn(warning);
    }
    say_notes(task.notes());
    if (data.valid != nullptr && !resumed_) {
      for (const auto& [name, metrics] : task.baselines(*data.valid)) {
        say("valid, " + name + ": " + metrics_text(metrics));
      }
    }
  }

  void entered(const std::string& run) override { add_log_file(run + "/log.txt"); }

  void started(const TrainStart& start) override {
    say(text("run ", start.run, "  (", start.device, ", ", start.precision, ", ", start.threads,
             " threads)"));
    say(text(start.parameters, " parameters, ", start.samples, " samples, ", start.steps_per_epoch,
             " steps an epoch"));
    for (const std::string& fact : start.facts) {
      say(fact);
    }
    std::string labels;
    for (const auto& [label, known, all] : start.labels) {
      const bool nodes = label.level == Level::node;
      const char* rows = !start.atoms ? "" : nodes ? " atoms" : label.level == Level::graph ? " frames" : "";
      labels += text(labels.empty() ? "" : ", ", label.name, " ", known, "/", all, rows,
                     label.unit.empty() ? "" : " (" + label.unit + ")");
    }
    say("labels: " + labels);
    if (!start.taken.empty()) {
      say(start.taken);
    }
    best_ = start.best;
    if (start.resumed_step > 0) {
      say(text("goes on from step ", start.resumed_step));
    }
    progress_.emplace("train", 0, style_);
  }

  void stepped(const TrainTick& tick) override {
    if (!progress_) {
      return;
    }
    // The budget may be epochs, steps or seconds: its fraction says where the end will be.
    if (tick.fraction > 0) {
      progress_->set_total(std::max(
          tick.elapsed.step, int64_t{std::llround(static_cast<double>(tick.elapsed.step) / tick.fraction)}));
    }
    progress_->update(tick.elapsed.step, "loss " + number_text(tick.loss));
  }

  void validated(const TrainTick& tick, const Metrics& metrics, bool best) override {
    clear();
    for (const auto& [name, metric] : metrics) {
      units_[name] = metric.unit;
    }
    std::ostringstream line;
    line << "epoch " << number_text(tick.elapsed.epoch, "%.6g") << "  step " << tick.elapsed.step << "  "
         << clock_text(tick.elapsed.seconds) << "  loss " << number_text(tick.loss) << "  valid ";
    const std::string last = best ? "  (best)" : "";
    const auto used = static_cast<int64_t>(line.str().size() + last.size()) + 1;
    say(line.str() + epoch_metrics_text(metrics, best_, columns_of_stderr(100) - used) + last);
  }

  void noted(const std::string& line) override {
    clear();
    warn(line);
  }

  void clear() {
    if (progress_) {
      progress_->clear();
    }
  }

  // What the training opened.
  const Splits& data() const { return data_; }
  // Of the metrics that it validated by.
  const std::map<std::string, std::string>& units() const { return units_; }

 private:
  Progress::Style style_;
  bool resumed_;
  Splits data_;
  std::map<std::string, std::string> units_;
  std::vector<std::string> best_;  // the metrics that pick the best model
  std::optional<Progress> progress_;
};

// plots/confusion.csv: the names of the classes, then a row of counts for each true class.
void write_confusion(const Confusion& confusion, const std::string& folder) {
  const size_t k = confusion.classes.size();
  std::string csv;
  for (size_t i = 0; i < k; ++i) {
    csv += i > 0 ? "," : "";
    csv += csv_cell(confusion.classes[i]);
  }
  for (size_t i = 0; i < k * k; ++i) {
    csv += i % k == 0 ? '\n' : ',';
    csv += std::to_string(confusion.counts[i]);
  }
  make_folder(folder);
  write_file_atomically(folder + "/confusion.csv", csv + "\n", Existing::replace_link);
}

void print_metrics_table(const std::vector<TrainedRun::Row>& rows) {
  size_t width = 0;
  for (const TrainedRun::Row& row : rows) {
    width = std::max(width, row.name.size());
  }
  for (const TrainedRun::Row& row : rows) {
    std::cout << std::left << std::setw(static_cast<int>(width) + 2) << row.name << metrics_text(row.metrics)
              << "\n";
  }
}

Json result_json(const TrainResult& result) {
  Json json = Json::object();
  json.set("run", result.run)
      .set("steps", result.steps)
      .set("seconds", result.seconds)
      .set("tokens", result.tokens)
      .set("flops", result.flops)
      .set("nominal_flops", result.nominal_flops);
  if (result.waited) {
    json.set("waited",
             Json::object().set("value", *result.waited).set("unit", "share of the training's time"));
  }
  if (result.best) {
    json.set("best", Json::object()
                         .set("metric", result.best->metric)
                         .set("value", result.best->value)
                         .set("unit", result.best->unit)
                         .set("step", result.best->step));
  }
  return json;
}

int say_interrupted(const TrainResult& result, bool json) {
  say(text("saved at step ", result.steps, "; go on with: weyl train --resume ", result.run));
  if (json) {
    std::cout << result_json(result).dump() << "\n";
  }
  return exit_interrupted;
}

// A training that is left within a step cannot return.
[[noreturn]] void end_training(Console& console, const TrainResult& result, const std::exception_ptr& error,
                               bool json) {
  int code = exit_failed;
  try {
    console.clear();
    if (error) {
      std::rethrow_exception(error);
    }
    code = say_interrupted(result, json);
  } catch (const std::exception& reason) {
    code = report(reason);
  }
  std::cout << std::flush;
  end_log(code != exit_interrupted);
  std::fflush(nullptr);
  _exit(code);
}

Recipe recipe_to_train(const TrainCommand& command, const Systems& systems) {
  std::vector<std::string> overrides = command.config.overrides;
  Recipe recipe = read_recipe(command.config.path, overrides, options_of(systems));
  if (!command.fold || recipe.data.folds > 0) {
    return recipe;
  }
  const ListedFolds listed = listed_folds(recipe.data);
  require<ConfigError>(listed.count > 0,
                       "--fold: needs data.folds, the number of parts, such as data.folds=5");
  overrides.push_back(text("data.folds=", listed.count));
  return read_recipe(command.config.path, overrides, options_of(systems));
}

std::string waiting_text(double share) {
  constexpr double much = 0.2;
  return text("waited for data: ", number_text(100 * share, "%.1f"), " % of the training's time",
              share > much ? " (train.loaders: threads that make batches)" : "");
}

// Whatever goes wrong here, the training is done: a warning.
void draw_pictures(const TrainResult& result, const Predictor* best,
                   const std::shared_ptr<const Dataset>& test) {
  const std::string folder = result.run + "/plots";
  try {
    if (best != nullptr) {
      write_parity(*best, test, folder);
      if (result.test && result.test->confusion) {
        write_confusion(*result.test->confusion, folder);
      }
      write_overlays(*best, *test, folder);
      write_films(*best, *test, folder);
    }
    draw_run(result.run, folder);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    warn("no pictures, or not all: " + reason.substr(0, reason.find('\n')));
  }
}

}  // namespace

TrainedRun train_run(const TrainCommand& command, const Systems& systems,
                     const std::shared_ptr<Ranks>& ranks) {
  catch_signals("the last checkpoint is whole");
  const bool resumed = !command.resume.empty();
  Console console(command.output.quiet, resumed);
  TrainRequest request;
  request.out = command.out;
  request.name = std::filesystem::path(command.config.path).stem().string();
  request.device = device_of(command.machine, ranks);
  request.threads = command.machine.threads;
  request.systems = &systems;
  request.ranks = ranks;
  request.observer = is_first(ranks) ? &console : nullptr;
  request.stop = stop_requested;
  request.on_stop_request = [&](const TrainResult& result, const std::exception_ptr& error) {
    end_training(console, result, error, command.output.json);
  };
  request.changes = resumed ? command.config.overrides : std::vector<std::string>{};
  request.data_changed = command.data_changed;
  request.strict = command.strict;
  TrainedRun trained;
  trained.result =
      resumed ? resume(command.resume, request) : train(recipe_to_train(command, systems), request);
  if (!is_first(ranks)) {
    trained.leads = false;
    return trained;
  }
  console.clear();
  const TrainResult& result = trained.result;
  Json& json = trained.json;
  json = result_json(result);
  if (result.ending == Ending::interrupted) {
    return trained;
  }
  if (result.waited) {
    say(waiting_text(*result.waited));
  }
  std::optional<Predictor> best;
  if (const auto& test = console.data().test; test != nullptr && test->size() > 0) {
    best.emplace(result.run, PredictorOptions{.device = request.device}, systems);
    const Evaluation evaluation = result.test.value_or(Evaluation{});
    json.set("test", to_json(evaluation));
    Json baselines = Json::object();
    for (auto& [name, metrics] : best->task()->baselines(*test)) {
      baselines.set(name, to_json(metrics));
      trained.metrics.push_back({"test, " + name, metrics});
    }
    json.set("baselines", baselines).set("parameters", best->model().parameter_count());
    trained.metrics.push_back({"test, this model", evaluation.metrics});
  }
  std::map<std::string, std::string> units = console.units();
  if (result.test) {
    for (const auto& [name, metric] : result.test->metrics) {
      units[name] = metric.unit;
    }
  }
  Json unit_by_metric = Json::object();
  for (const auto& [name, unit] : units) {
    unit_by_metric.set(name, unit);
  }
  json.set("units", unit_by_metric);
  write_file_atomically(result.run + "/result.json", json.dump() + "\n", Existing::replace_link);
  if (command.pictures) {
    draw_pictures(result, best ? &*best : nullptr, console.data().test);
  }
  return trained;
}

namespace {

int trained(const TrainCommand& command, const Systems& systems, const std::shared_ptr<Ranks>& ranks) {
  const TrainedRun trained = train_run(command, systems, ranks);
  if (!trained.leads) {
    return trained.result.ending == Ending::interrupted ? exit_interrupted : exit_done;
  }
  const TrainResult& result = trained.result;
  if (result.ending == Ending::interrupted) {
    return say_interrupted(result, command.output.json);
  }
  if (command.output.json) {
    std::cout << trained.json.dump() << "\n";
    return exit_done;
  }
  if (result.best) {
    std::cout << "best valid " << result.best->metric << " " << number_text(result.best->value, "%.5g") << " "
              << result.best->unit << " at step " << result.best->step << " of " << result.steps << ", "
              << clock_text(result.seconds) << "\n";
  }
  print_metrics_table(trained.metrics);
  std::cout << result.run << "\n";
  return exit_done;
}

}  // namespace

int run(const TrainCommand& command, const Systems& systems) {
  if (command.ranks > 1 && command.resume.empty() && !RankProcesses::is_child()) {
    recipe_to_train(command, systems);  // a fault in it is told before there are others
  }
  RankProcesses processes(command.ranks, command.machine);
  return processes.run([&] { return trained(command, systems, processes.ranks()); });
}

}  // namespace weyl
