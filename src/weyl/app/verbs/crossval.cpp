#include "weyl/app/verbs/crossval.h"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/metrics_text.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/app/verbs/cases.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/ranks.h"
#include "weyl/app/verbs/train.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/config/wording.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/text_number.h"
#include "weyl/data/open.h"
#include "weyl/predict/subject.h"
#include "weyl/study/sweep/record.h"
#include "weyl/train/loop/changes_on_resume.h"
#include "weyl/train/run/fingerprint.h"
#include "weyl/train/run/run_data.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

constexpr int64_t usual_folds = 5;
constexpr const char* record_name = "/crossval.toml";  // what the folder is a cross-validation of
constexpr const char* record_head = "# weyl crossval: ";
constexpr const char* run_prefix = "fold-";
constexpr const char* writer = "a cross-validation";

std::string run_of_fold(const std::string& folder, int64_t fold) {
  return text(folder, "/", run_prefix, fold);
}

bool is_done(const std::string& run) {
  std::error_code error;
  return fs::exists(run + "/result.json", error);
}

/// Of a run the weights that it ended with, averaged where it averages. Its best ones were chosen by the samples that it is measured
/// on.
std::string model_of(const std::string& run) {
  return run + "/last";
}

std::vector<std::string> overrides_of(const CrossvalCommand& command, int64_t folds, int64_t fold) {
  std::vector<std::string> overrides = command.config.overrides;
  overrides.push_back(text("data.folds=", folds));
  overrides.push_back(text("data.fold=", fold));
  return overrides;
}

/// The config in full, and above it how many folds there are.
std::string record_of(Recipe recipe) {
  return text(record_head, recipe.data.folds, " folds\n", write_toml([&](Fields& f) { fields(f, recipe); }));
}

/// The words that give a run the budget of a training.
std::vector<std::string> budget_of(const TrainOptions& o) {
  const auto count = [](std::optional<int64_t> n) { return n ? std::to_string(*n) : "false"; };
  const auto number = [](std::optional<double> x) { return x ? toml_number(*x) : "false"; };
  return {"train.epochs=" + count(o.epochs), "train.steps=" + count(o.steps),
          "train.flops=" + number(o.flops), "train.max_seconds=" + number(o.max_seconds)};
}

/// The record of an earlier call with the budget of this one, which may change while no fold is trained to its end: all folds
/// then have the new one.
std::string with_budget(const std::string& folder, const Recipe& recipe, const ModelOptions& known) {
  const std::string path = folder + record_name;
  Recipe kept = read_recipe(path, {}, known);
  std::string done;
  for (int64_t fold = 0; fold < kept.data.folds; ++fold) {
    done += is_done(run_of_fold(folder, fold)) ? text(done.empty() ? "" : ", ", fold) : "";
  }
  require<ConfigError>(done.empty(), "--out ", folder, ": all folds must have one budget, but it was ",
                       budget_text(kept.train), " and is now ", budget_text(recipe.train),
                       "; by the first are trained to their end: fold ", done,
                       "; say it again, or give another --out");
  take_budget(recipe.train, kept.train);
  return record_of(std::move(kept));
}

/// Whether no fold was begun in the folder of a record: an earlier call was refused before, and another config may follow.
bool is_without_runs(const std::string& folder, const std::string& record) {
  return record.starts_with(record_head) &&
         std::ranges::none_of(fs::directory_iterator(folder), [](const auto& entry) {
           return entry.path().filename().string().starts_with(run_prefix);
         });
}

/// Makes the folder, or finds it as an earlier call has made it, perhaps with another budget. ConfigError: it is of something
/// else, or of another config.
void begin_or_go_on(const std::string& folder, const Recipe& recipe, const ModelOptions& known) {
  const int64_t folds = recipe.data.folds;
  const std::string record = record_of(recipe);
  const std::string path = folder + record_name;
  for (const char* name : {record_name, "/cases.csv", "/crossval.json"}) {
    require_plain(folder + name, Plain::file, writer);
  }
  for (int64_t fold = 0; fold < folds; ++fold) {
    require_plain(run_of_fold(folder, fold), Plain::folder, writer);
  }
  constexpr size_t largest = size_t{4} << 20;
  const FileContents kept = read_file(path, largest);
  if (kept.error == ENOENT || (kept.fault.empty() && kept.text.empty())) {
    std::error_code error;
    require<ConfigError>(!fs::exists(folder, error) || fs::is_empty(folder, error), "--out ", folder,
                         ": must be a new folder, or that of an earlier `weyl crossval`, but holds something "
                         "else");
    make_folder(folder);
    write_file_atomically(path, record, Existing::replace_link);
    return;
  }
  require<DataError>(kept.fault.empty(), path, ": ", kept.fault);
  if (is_without_runs(folder, kept.text)) {
    write_file_atomically(path, record, Existing::replace_link);
    return;
  }
  const auto other = difference_of(kept.text, record);
  const bool by_budget = other && is_budget(other->key);
  const auto difference = by_budget ? difference_of(with_budget(folder, recipe, known), record) : other;
  require<ConfigError>(!difference, "--out ", folder,
                       ": must be a new folder, or that of the same cross-validation, but ",
                       difference ? text(difference->now_text(), ", it was ", difference->before) : "");
  if (by_budget) {
    write_file_atomically(path, record, Existing::replace_link);
  }
}

struct Fold {
  std::string run;
  Evaluation evaluation;
};

/// DataError: the samples that a finished fold has learned from, or those that it is measured on, are no longer what they were.
/// Its part may then hold samples that it was trained on.
void require_same_data(const std::string& run, const Systems& systems) {
  const Json all = fingerprint_of_run(run);
  Json then = Json::object();  // samples for testing play no part
  for (const char* split : {"train", "valid"}) {
    if (const Json* known = all.find(split); known != nullptr) {
      then.set(split, *known);
    }
  }
  if (then.find("train") == nullptr) {
    warn(text(run,
              ": its environment.json does not say which data it learned from, so that today's cannot be "
              "compared with them"));
    return;
  }
  // Opened as `resume` opens them, so that equal data have equal fingerprints.
  const Recipe recipe = read_recipe(run + "/config.toml", {}, options_of(systems));
  const Splits now =
      open_splits(data_of_run(recipe.data, run), recipe.interface ? &*recipe.interface : nullptr);
  const std::string changes = changes_of_data(fingerprint({now.train, now.valid, nullptr}), then);
  require<DataError>(changes.empty(), run, ": data must be those that its fold was trained on, but ", changes,
                     "; another --out begins anew with today's data");
}

/// Trains a fold or goes on with it. False: a signal has stopped it.
bool train_fold(const CrossvalCommand& command, int64_t folds, int64_t fold, const TrainOptions& budget,
                const Systems& systems) {
  const std::string run = run_of_fold(command.out, fold);
  say(text("fold ", fold, ", ", fold + 1, " of ", folds, ": ", run));
  TrainCommand train;
  train.output = command.output;
  train.machine = command.machine;
  train.machine.dtype.reset();  // is among the overrides
  train.pictures = command.pictures;
  if (is_run_folder(run)) {
    train.resume = run;
    const Recipe begun = read_recipe(run + "/config.toml", {}, options_of(systems));
    if (!same_budget(begun.train, budget)) {
      train.config.overrides = budget_of(budget);
    }
  } else {
    train.config = {command.config.path, overrides_of(command, folds, fold)};
    train.out = run;
  }
  return train_run(train, systems).result.ending != Ending::interrupted;
}

/// Adds what is measured to `pooled` and `cases`, but where a signal has stopped it.
Evaluation measured(const CrossvalCommand& command, const std::string& run, std::shared_ptr<Meter>& pooled,
                    std::vector<Case>& cases, const Systems& systems) {
  Machine machine = command.machine;
  machine.dtype.reset();
  require_same_data(run, systems);
  const FilePredictor predictor(model_of(run), predictor_options(machine), systems);
  take_threads_for(machine, predictor, predictor.options().batch);
  const auto data = open_data(predictor.subject().recipe, "", "valid", Keep::on_disk, {}, predictor.task());
  const TrainingSamples seen = training_samples_in(*data, fingerprint_of_run(run));
  warn_if_any(seen.count == 0
                  ? ""
                  : text(run, ": has learned from ", seen.exact ? "" : "about ", seen.count, " of the ",
                         data->size(), " samples that it is measured on: samples are there twice"));
  Progress progress("eval " + run, data->size(), Progress::style_for_stderr(command.output.quiet));
  Evaluation evaluation = predictor.evaluate(
      data, "the valid split of " + run,
      {.progress = [&](int64_t done) { progress.update(done); }, .stop = stop_requested, .by_sample = true});
  progress.clear();
  if (evaluation.stopped) {
    return evaluation;
  }
  const std::vector<Case> more = cases_of(*data, evaluation, run_name(run));
  cases.insert(cases.end(), more.begin(), more.end());
  if (pooled == nullptr) {
    pooled = predictor.task()->meter(predictor.interface());
  }
  pooled->merge(*evaluation.meter);
  return evaluation;
}

/// Of a metric that every fold has: the mean over folds, and the standard deviation (n - 1).
struct OverFolds {
  double mean = 0, deviation = 0;
  std::string unit;
};

std::map<std::string, OverFolds> over_folds(const std::vector<Fold>& folds) {
  std::map<std::string, OverFolds> result;
  for (const auto& [name, metric] : folds.front().evaluation.metrics) {
    double sum = 0, square = 0;
    bool all = true;
    for (const Fold& fold : folds) {
      const auto found = fold.evaluation.metrics.find(name);
      all = all && found != fold.evaluation.metrics.end();
      sum += all ? found->second.value : 0;
    }
    const auto n = static_cast<double>(folds.size());
    for (const Fold& fold : folds) {
      square += all ? std::pow(fold.evaluation.metrics.at(name).value - sum / n, 2) : 0;
    }
    if (all) {
      result[name] = {sum / n, std::sqrt(square / (n - 1)), metric.unit};
    }
  }
  return result;
}

std::string table_of(const Metrics& pooled, const std::map<std::string, OverFolds>& means,
                     const std::vector<Fold>& folds) {
  std::vector<std::vector<std::string>> rows{{"metric", "pooled", "mean", "deviation"}};
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    rows.front().push_back(text("fold ", fold));
  }
  for (const auto& [name, metric] : pooled) {
    const auto mean = means.find(name);
    rows.push_back({metric.unit.empty() ? name : text(name, " (", metric.unit, ")"),
                    short_number(metric.value), mean != means.end() ? short_number(mean->second.mean) : "-",
                    mean != means.end() ? short_number(mean->second.deviation) : "-"});
    for (const Fold& fold : folds) {
      const auto found = fold.evaluation.metrics.find(name);
      rows.back().push_back(found != fold.evaluation.metrics.end() ? short_number(found->second.value) : "-");
    }
  }
  return aligned(rows);
}

Json json_of(const std::string& out, const std::vector<Fold>& folds, const Metrics& pooled,
             const std::map<std::string, OverFolds>& means, const std::string& predict) {
  int64_t samples = 0;
  double seconds = 0;
  Json of_folds = Json::array(), over = Json::object();
  for (const Fold& fold : folds) {
    samples += fold.evaluation.samples;
    seconds += fold.evaluation.seconds;
    of_folds.add(Json::object()
                     .set("run", fold.run)
                     .set("model", model_of(fold.run))
                     .set("samples", fold.evaluation.samples)
                     .set("metrics", to_json(fold.evaluation.metrics)));
  }
  for (const auto& [name, mean] : means) {
    over.set(name,
             Json::object().set("mean", mean.mean).set("deviation", mean.deviation).set("unit", mean.unit));
  }
  return Json::object()
      .set("out", out)
      .set("samples", samples)
      .set("seconds", seconds)
      .set("metrics", to_json(pooled))
      .set("over_folds", over)
      .set("folds", of_folds)
      .set("predict", predict);
}

}  // namespace

std::vector<std::string> models_of_folds(const std::string& path, const Systems& systems) {
  std::error_code error;
  if (!fs::is_regular_file(path + record_name, error)) {
    return {path};
  }
  const Recipe recipe = read_recipe(path + record_name, {}, options_of(systems));
  std::vector<std::string> models;
  for (int64_t fold = 0; fold < recipe.data.folds; ++fold) {
    const std::string run = run_of_fold(path, fold);
    require<DataError>(is_done(run), path, ": must be a whole cross-validation, but ", run,
                       " is not trained to its end; `weyl crossval "
                       "CONFIG --out ",
                       path, "` goes on with it");
    models.push_back(model_of(run));
  }
  return models;
}

namespace {

/// Where a fold's own samples decide more than they are measured by; empty: nowhere.
std::string warning_about_choices(const TrainOptions& o) {
  const bool plateau = o.schedule.name == ScheduleLaw::plateau;
  return o.patience || plateau
             ? text(
                   o.patience ? "train.patience ends" : "train.schedule.name = \"plateau\" steers",
                   " the training of each fold by the samples that the fold is measured on, so that metrics may "
                   "be better than those of new data")
             : "";
}

/// How many folds there are: those that were asked for, else those that the data list, else five. ConfigError: the data list
/// another number.
int64_t folds_of(const CrossvalCommand& command, const DataOptions& data) {
  const ListedFolds listed = listed_folds(data);
  const int64_t asked = command.folds.value_or(data.folds);
  if (asked > 0) {
    require_listed(asked, listed, command.folds ? "--folds" : "data.folds");
    return asked;
  }
  if (listed.count > 0) {
    say(text(listed.count, " folds, those of ", listed.file));
    return listed.count;
  }
  return usual_folds;
}

int leave_for_later(const CrossvalCommand& command, int64_t done, const std::string& line) {
  say(line);
  if (command.output.json) {
    std::cout << Json::object().set("out", command.out).set("done", done).dump() << "\n";
  }
  return exit_interrupted;
}

}  // namespace

int run(const CrossvalCommand& command, const Systems& systems) {
  require_one_process("crossval");
  const ModelOptions known = options_of(systems);
  Recipe recipe = read_recipe(command.config.path, command.config.overrides, known);
  const int64_t count = folds_of(command, recipe.data);
  recipe = read_recipe(command.config.path, overrides_of(command, count, 0), known);
  check_trainable(recipe);
  warn_if_any(warning_about_choices(recipe.train));
  begin_or_go_on(command.out, recipe, known);
  constexpr const char* left = "folds that are trained stay, and the same command goes on";
  catch_signals(left);
  std::vector<int64_t> done, missing;
  for (int64_t fold = 0; fold < count; ++fold) {
    (is_done(run_of_fold(command.out, fold)) ? done : missing).push_back(fold);
  }
  for (size_t i = 0; i < done.size() && !missing.empty(); ++i) {  // before more is trained on other data
    require_same_data(run_of_fold(command.out, done[i]), systems);
  }
  for (const int64_t fold : missing) {
    if (!train_fold(command, count, fold, recipe.train, systems)) {
      return leave_for_later(command, std::ssize(done),
                             text("fold ", fold, " of ", count, " is saved; the same command goes on"));
    }
    done.push_back(fold);
  }
  catch_signals(left);  // a training has said what it leaves
  std::shared_ptr<Meter> meter;
  std::vector<Fold> folds;
  std::vector<Case> cases;
  for (int64_t fold = 0; fold < count; ++fold) {
    const std::string run = run_of_fold(command.out, fold);
    folds.push_back({run, measured(command, run, meter, cases, systems)});
    if (folds.back().evaluation.stopped) {
      return leave_for_later(command, count, "all folds are trained; the same command measures them");
    }
  }
  const Metrics pooled = meter->values();
  const auto means = over_folds(folds);
  const std::string predict = text("weyl predict ", command.out, " DATA --out FOLDER");
  const Json json = json_of(command.out, folds, pooled, means, predict);
  write_file_atomically(command.out + "/cases.csv", cases_csv(cases), Existing::replace_link);
  write_file_atomically(command.out + "/crossval.json", json.dump() + "\n", Existing::replace_link);
  if (command.output.json) {
    std::cout << json.dump() << "\n";
    return exit_done;
  }
  std::cout << cases.size() << " cases, " << count << " folds, each by the last weights of its run\n"
            << table_of(pooled, means, folds) << command.out << "/cases.csv\n";
  say("all folds predict together: " + predict);
  return exit_done;
}

}  // namespace weyl
