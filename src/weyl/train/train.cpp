#include "weyl/train/train.h"

#include <ATen/Parallel.h>

#include <ATen/ops/full.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>

#include "weyl/carriers/loader.h"
#include "weyl/config/toml.h"
#include "weyl/config/unused_options.h"
#include "weyl/core/available_memory.h"
#include "weyl/core/check.h"
#include "weyl/core/fault.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/data/data_warnings.h"
#include "weyl/saved/evaluate.h"
#include "weyl/tasks/task.h"
#include "weyl/train/loop/changes_on_resume.h"
#include "weyl/train/loop/compute_settings.h"
#include "weyl/train/loop/loading.h"
#include "weyl/train/preflight/data_checks.h"
#include "weyl/train/preflight/input_check.h"
#include "weyl/train/preflight/label_features.h"
#include "weyl/train/preflight/prepare.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/environment.h"
#include "weyl/train/run/fingerprint.h"
#include "weyl/train/run/model_card.h"
#include "weyl/train/run/run_data.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

// What can be refused before any data is opened.
void check(const Recipe& recipe, at::Device device) {
  check_trainable(recipe);
  require<ConfigError>(recipe.train.precision != Precision::bf16 || device.is_cuda(),
                       "train.precision: bf16 must run on a CUDA device, got ", device.str());
}

void write_card(const std::string& run, const SavedModel& saved, const TrainResult* result) {
  ModelSummary summary = summarise(saved);
  std::vector<CardResult> results;
  if (result != nullptr) {
    summary.step = result->steps;
    const auto file = SafetensorsFile(model_file(run));
    summary.epoch = read_summary(file.header(), file.path()).epoch;
    if (result->best) {
      results.push_back({"valid " + result->best->metric, result->best->value, result->best->unit});
    }
    for (const auto& [name, metric] : result->test.value_or(Evaluation{}).metrics) {
      results.push_back({"test " + name, metric.value, metric.unit});
    }
  }
  const std::string name = fs::path(run).filename().string();
  write_file_atomically(run + "/README.md", model_card(name, summary, results, saved.task->notes()),
                        Existing::replace_link);
}

/// Runs `work` on every rank and goes on when all have done it. The first rank throws what went wrong on any of them, the
/// others RankLeaves.
void on_all_ranks(const TrainRequest& request, const std::function<void()>& work) {
  if (request.ranks == nullptr) {
    work();
    return;
  }
  std::exception_ptr own;
  std::string line;  // behind a letter for its kind
  try {
    work();
  } catch (const std::exception& error) {
    own = std::current_exception();
    const Fault fault = fault_of(error);
    line = (fault.kind == Fault::Kind::data     ? "d"
            : fault.kind == Fault::Kind::usage  ? "u"
            : fault.kind == Fault::Kind::memory ? "m"
                                                : " ") +
           fault.line;
  }
  std::vector<std::string> lines;
  try {
    request.ranks->wait_for_first();  // which also measures baselines, and writes
    lines = request.ranks->gather(line);
  } catch (const RankError&) {  // one does not answer in time: what went wrong here says more
    if (own) {
      std::rethrow_exception(own);
    }
    throw;
  }
  if (is_first(request.ranks) && own) {
    std::rethrow_exception(own);
  }
  for (size_t rank = 0; rank < lines.size(); ++rank) {
    if (!lines[rank].empty()) {
      const std::string said = text("rank ", rank, ": ", lines[rank].substr(1));
      require<RankLeaves>(is_first(request.ranks), said);
      require<DataError>(lines[rank][0] != 'd', said);
      require<ConfigError>(lines[rank][0] != 'u', said);
      require<MemoryError>(lines[rank][0] != 'm', said);
      throw RankError(said);
    }
  }
}

TrainResult run_in(const std::string& run, Prepared prepared, const Resumed* resumed,
                   const TrainRequest& request) {
  const std::vector<LabelCount> labels = std::move(prepared.labels);
  const std::vector<std::string> notes = std::move(prepared.notes);
  const std::string taken = std::move(prepared.taken);
  // Whoever goes on with a run has read them.
  const bool warns_of_data = request.observer != nullptr && (resumed == nullptr || request.data_changed);
  const std::vector<std::string> data_warnings_found =
      warns_of_data ? data_warnings(prepared.data, prepared.saved.task->labels())
                    : std::vector<std::string>{};
  std::optional<Trainer> made;
  on_all_ranks(request, [&] {
    made.emplace(std::move(prepared.saved), prepared.recipe.train, std::move(prepared.data), run,
                 request.observer, request.stop, systems_of(request), request.ranks);
    if (resumed != nullptr) {
      made->load(*resumed);
    }
  });
  Trainer& trainer = *made;
  if (request.on_stop_request) {
    trainer.set_on_stop_request(request.on_stop_request);
  }
  const SavedModel& saved = trainer.saved();
  if (request.observer != nullptr) {
    for (const std::string& note : notes) {
      request.observer->noted(note);
    }
    for (const std::string& warning : saved.model->warnings(saved.task->differentiated_by())) {
      request.observer->noted(warning);
    }
    for (const std::string& warning : data_warnings_found) {
      request.observer->noted(warning);
    }
    if (const std::string note = note_on_places(*saved.model); !note.empty()) {
      request.observer->noted(note);
    }
    const TrainOptions& o = prepared.recipe.train;
    std::vector<std::string> best;
    if (trainer.best_metric()) {
      for (const MetricTerm& term : trainer.best_metric()->terms()) {
        best.push_back(term.name);
      }
      std::ranges::copy(trainer.best_metric()->left_out(), std::back_inserter(best));
    }
    std::vector<std::string> facts = saved.model->facts();
    if (request.ranks != nullptr) {
      facts.push_back(trainer.shares());
    }
    request.observer->started(
        {.run = run,
         .device = saved.model->device().str(),
         .precision = std::string(names_of(o.precision)[static_cast<size_t>(o.precision)]),
         .samples = trainer.samples(),
         .steps_per_epoch = trainer.steps_per_epoch(),
         .parameters = saved.model->parameter_count(),
         .threads = at::get_num_threads(),
         .resumed_step = resumed != nullptr ? resumed->state.step : 0,
         .labels = labels,
         .atoms = !saved.interface.elements.empty(),
         .best = std::move(best),
         .facts = std::move(facts),
         .taken = taken});
  }
  if (!is_first(request.ranks)) {
    return trainer.run();
  }
  write_card(run, saved, nullptr);
  const TrainResult result = trainer.run();
  write_card(run, saved, &result);
  return result;
}

void write_config(const RunFolder& run, Recipe recipe) {
  write_file_atomically(run.file("config.toml"), write_toml([&](Fields& f) { fields(f, recipe); }),
                        Existing::replace_link);
}

void write_environment(const RunFolder& run, const Json& json) {
  write_file_atomically(run.file("environment.json"), json.dump() + "\n", Existing::replace_link);
}

/// How many ranks there are, on each host by its name, and how their sums are cut, as environment.json keeps it: the bits depend on
/// both.
void record_ranks(Json& environment, const TrainRequest& request) {
  if (request.ranks != nullptr) {
    std::map<std::string, int64_t> on;
    for (const std::string& host : request.ranks->hosts()) {
      ++on[host];
    }
    Json hosts = Json::object();
    for (const auto& [host, ranks] : on) {
      hosts.set(host, ranks);
    }
    environment.set("ranks", count_of(request.ranks))
        .set("hosts", hosts)
        .set("gradient_bucket_bytes", GradientSums::bucket_bytes);
  }
}

/// The first rank's folder.
std::string run_of_all(const std::string& run, const TrainRequest& request) {
  return request.ranks == nullptr ? run : request.ranks->gather(run).front();
}

TrainObserver& observer_of(const TrainRequest& request) {
  static TrainObserver nobody;
  return request.observer != nullptr ? *request.observer : nobody;
}

// What environment.json says; null, which is noted, when it is damaged, or missing in a run that has come to a
// checkpoint.
Json environment_of(const std::string& run, bool has_checkpoint, TrainObserver& observer) {
  const std::string file = run + "/environment.json", source = read_if_there(file);
  std::string wrong = file + ": is missing or empty";
  if (!source.empty()) {
    try {
      Json json = Json::parse(source, file);
      require<DataError>(json.is_object(), file, ": must be a JSON object");
      return json;
    } catch (const DataError& error) {
      wrong = text(error.what(), "; it is set aside as ", set_aside(file));
    }
  }
  if (has_checkpoint || !source.empty()) {
    observer.noted(wrong +
                   "; the data and the machine cannot be compared with those that the run began with, and a "
                   "new one is written");
  }
  return {};
}

// The recipe of a run with the budget and the way of working that it has now: as config.toml has them, unless the caller
// asks for others.
Recipe with_changes(Recipe recipe, const std::string& run, const TrainRequest& request,
                    const ModelOptions& known) {
  const std::string file = run + "/config.toml";
  ModelOptions before = recipe.model;
  try {
    const Recipe now = read_recipe(file, {}, known);
    take_way_of_working(now.model, recipe.model);
    take_budget(now.train, recipe.train);
  } catch (const ConfigError& error) {
    observer_of(request).noted(text(error.what(), "; the run goes on as its checkpoint says"));
  }
  if (!request.changes.empty()) {
    Recipe changed;
    changed.model = known;
    read_toml_text(write_toml([&](Fields& f) { fields(f, recipe); }), file, request.changes,
                   [&](Fields& f) { fields(f, changed); });
    take_budget(changed.train, recipe.train);
    take_way_of_working(changed.model, recipe.model);
  }
  if (const std::string line = take_way_of_working(recipe.model, before); !line.empty()) {
    observer_of(request).noted(line);
  }
  return recipe;
}

/// ConfigError for the first.
void require_no_warnings(const std::vector<std::string>& warnings) {
  require<ConfigError>(warnings.empty(), warnings.empty() ? "" : warnings.front());
}

bool asks_for_deterministic(const Recipe& recipe, const TrainRequest& request) {
  return recipe.train.deterministic && !request.device.is_cpu();
}

// As many threads as this process's part of the model's batches is worth, unless the caller says how many.
void take_threads_for(const Prepared& prepared, const TrainRequest& request) {
  const Model& model = *prepared.saved.model;
  const double tokens =
      tokens_of_a_batch(model, prepared.recipe.train) / static_cast<double>(count_of(request.ranks));
  take_threads(request.threads, request.device, training_flops(model, prepared.saved.task.get(), tokens));
}

bool has_as_many_ranks(const Json& began, const TrainRequest& request) {
  const Json* ranks = began.find("ranks");
  return (ranks != nullptr ? ranks->number_or(1) : 1) == static_cast<double>(count_of(request.ranks));
}

// As many threads as the run began with; false where it does not say, or they are those of another number of ranks. DataError: no
// number of threads.
bool take_threads_of_run(const std::string& run, const Json& began, const TrainRequest& request) {
  const Json* threads = began.find("threads");
  if (threads == nullptr || !has_as_many_ranks(began, request)) {
    return false;
  }
  const double number = threads->number_or(0);
  require<DataError>(request.threads > 0 || (number >= 1 && number <= 1024 && number == std::floor(number)),
                     run + "/environment.json", ": threads must be a whole number from 1 to 1024, got ",
                     printable(threads->dump(), 40), "; --threads N gives another");
  at::set_num_threads(static_cast<int>(request.threads > 0 ? request.threads : number));
  return true;
}

// A line when the machine is not the one that the run began on.
void compare_machines(Json began, const Recipe& recipe, const TrainRequest& request) {
  Json now = environment(request.device, recipe.train);
  if (const Json* then = began.find("ranks");
      began.is_object() && (request.ranks != nullptr || then != nullptr)) {
    now.set("ranks", count_of(request.ranks));
    began.set("ranks", then != nullptr ? Json(*then) : Json(int64_t{1}));
  }
  const std::string changed = differences(now, began);
  if (!changed.empty()) {
    observer_of(request).noted("the machine is not the one the run began on, so its bits will differ: " +
                               changed);
  }
}

// Whether an epoch's order is computed (EpochPlan), and a run's environment.json says so, as earlier versions' does not.
constexpr const char* kOrder = "order";
bool computes_order(const Prepared& prepared) {
  return prepared.data.train->size() > EpochPlan::most_listed;
}

/// The fingerprint of the data, of which each rank reads its own: a file of the same name may be another one on another host.
/// DataError naming the split and a rank that has other data than the first.
Json fingerprint_of_all(const Splits& data, const TrainRequest& request) {
  Json found;
  on_all_ranks(request, [&] { found = fingerprint(data); });
  if (request.ranks != nullptr) {
    for (const char* split : {"train", "valid", "test"}) {
      request.ranks->require_same(text("the ", split, " split"), words_of_split(found.find(split)));
    }
  }
  return found;
}

// Whether the data are others than those that environment.json has a fingerprint of, which is brought up to date.
bool compare_data(const RunFolder& run, Json began, const Json& now, const Prepared& prepared, bool refuse,
                  const TrainRequest& request) {
  const Json* then = began.find("data");
  const std::string changes = then != nullptr ? changes_of_data(now, *then) : "";
  require<DataError>(changes.empty() || !refuse, run.path(),
                     ": data must be those that the run was trained on, but ", changes,
                     " (--data-changed goes on all the same)");
  if (!changes.empty()) {
    observer_of(request).noted("the data are not those that the run began with: " + changes);
  }
  const bool other_order = began.is_object() && began.find(kOrder) == nullptr && computes_order(prepared);
  if (other_order) {
    observer_of(request).noted(
        "the run began with a version of weyl that kept a list of its samples; from here on they come in another order");
    began.set(kOrder, "computed");
  }
  if (then == nullptr || !changes.empty() || other_order) {
    if (!began.is_object()) {
      began = environment(request.device, prepared.recipe.train);
      record_folder(began);
      record_ranks(began, request);
    }
    write_environment(run, began.set("data", now));
  }
  return !changes.empty();
}

// Sets a best model aside that is damaged, or notes that it is missing: the next validation's takes its place.
void mend_best(const RunFolder& run, TrainState& state, TrainObserver& observer) {
  const std::string file = run.file("best/model.safetensors");
  std::error_code error;
  const bool there = fs::exists(fs::symlink_status(file, error));
  if (!there && !state.best) {
    return;
  }
  try {
    SafetensorsFile(file).verify();
  } catch (const UnreadableError&) {
    throw;
  } catch (const DataError& damage) {
    observer.noted(text(damage.what(), there ? "; it is set aside as " + set_aside(file) : "",
                        "; last/ stands for the best model until the next validation"));
    state.best.reset();
    state.best_loss.reset();
  }
}

}  // namespace

namespace {

/// What stands before a run's folder: data, task and model, found to fit, and what the user should know.
struct Checked {
  Prepared prepared;
  std::vector<std::string> notes;
};

Checked checked(const Recipe& recipe, const TrainRequest& request) {
  check(recipe, request.device);
  std::vector<std::string> notes = unused_option_warnings([&] { require_effects(recipe); });
  if (request.strict) {
    require_no_warnings(notes);
  }
  if (!request.data) {
    require_features_are_no_labels(recipe);
  }
  if (is_first(request.ranks)) {  // the others may come later
    RunFolder::require_new(request.out);
  }
  Prepared prepared = prepare(recipe, request, {recipe.data, recipe.task, recipe.train.from}, nullptr);
  std::ranges::move(
      unused_option_warnings([&] { recipe.model.system.require_effects(&prepared.saved.interface); }, notes),
      std::back_inserter(notes));
  std::ranges::move(prepared.likely_faults, std::back_inserter(notes));
  std::ranges::move(check_input(prepared.saved, recipe.train, *prepared.data.train, systems_of(request)),
                    std::back_inserter(notes));
  if (request.strict) {
    require_no_warnings(notes);
    require_no_warnings(data_warnings(prepared.data, prepared.saved.task->labels()));
  }
  std::ranges::move(notes_on_arithmetic(recipe.train, request.device), std::back_inserter(notes));
  for (std::string line :
       {check_axes(prepared.saved, prepared.data), check_measured(prepared.saved, prepared.data),
        note_on_augmentation(recipe.train, *prepared.saved.model)}) {
    if (!line.empty()) {
      notes.push_back(std::move(line));
    }
  }
  return {std::move(prepared), std::move(notes)};
}

}  // namespace

std::vector<std::string> rehearse(const Recipe& recipe, const TrainRequest& request) {
  return checked(recipe, request).notes;
}

TrainResult train(const Recipe& recipe, const TrainRequest& request) {
  const Deterministic deterministic(asks_for_deterministic(recipe, request));
  std::optional<Checked> found;
  on_all_ranks(request, [&] { found = checked(recipe, request); });
  const KeepThreads keep;
  take_threads_for(found->prepared, request);
  const Json data = fingerprint_of_all(found->prepared.data, request);
  std::optional<RunFolder> run;
  on_all_ranks(request, [&] {
    if (!is_first(request.ranks)) {
      return;
    }
    Json machine = environment(request.device, recipe.train);
    record_ranks(machine, request);
    record_folder(machine);
    machine.set("data", data);
    if (computes_order(found->prepared)) {
      machine.set(kOrder, "computed");
    }
    run.emplace(RunFolder::create(request.out, request.name));
    write_config(*run, found->prepared.recipe);  // first: from then on `resume` takes the folder
    write_environment(*run, machine);
    observer_of(request).entered(run->path());
    for (const std::string& line : found->notes) {
      observer_of(request).noted(line);
    }
  });
  return run_in(run_of_all(run ? run->path() : "", request), std::move(found->prepared), nullptr, request);
}

namespace {

/// A run that goes on: what it was, what it is now.
struct Continued {
  Recipe recipe;
  std::optional<Resumed> from;  // nothing: from its beginning
  Prepared prepared;
};

Continued read_run(const std::string& path, const TrainRequest& request) {
  const ModelOptions known = options_of(systems_of(request));
  Continued run;
  if (!checkpoint_folders(path).empty()) {
    run.from = read_checkpoint(path, systems_of(request));
  } else {
    observer_of(request).noted(
        path + ": has no checkpoint yet: the run starts from its beginning, as its config.toml says");
  }
  run.recipe = with_changes(run.from ? run.from->recipe : read_recipe(path + "/config.toml", {}, known), path,
                            request, known);
  check(run.recipe, request.device);
  return run;
}

void prepare_run(Continued& run, const std::string& path, const TrainRequest& request) {
  const Recipe& recipe = run.recipe;
  run.prepared = prepare(
      recipe, request,
      {data_of_run(recipe.data, path), task_of_run(recipe.task, path), path_of_run(recipe.train.from, path)},
      run.from ? &*run.from : nullptr);
}

/// What the folder of a run is told of going on, and the observer of what is not as it was.
void go_on_in(const RunFolder& folder, const Json& began, const Json& data, Continued& run,
              const TrainRequest& request) {
  TrainObserver& observer = observer_of(request);
  for (const std::string& warning : run.prepared.likely_faults) {
    observer.noted(warning);
  }
  const bool refuse = run.from && !request.data_changed;
  const bool changed = compare_data(folder, began, data, run.prepared, refuse, request);
  if (run.from) {
    run.from->data_changed = changed || request.data_changed;
    mend_best(folder, run.from->state, observer);
    if (!run.from->instead.empty()) {
      observer.noted(run.from->instead);
      std::error_code error;
      if (const std::string last = folder.file("last"); fs::exists(fs::symlink_status(last, error))) {
        observer.noted(text("the damaged checkpoint is set aside as ", set_aside(last)));
      }
    }
  }
  if (!request.changes.empty()) {
    write_config(folder, run.recipe);  // a refused resume has changed nothing
  }
}

/// All ranks go on from the checkpoint that the first one goes on from, and with the best value that it has kept.
void agree_on_start(std::optional<Resumed>& from, const TrainRequest& request) {
  if (request.ranks == nullptr) {
    return;
  }
  const Tensor start =
      at::full({3}, from && from->state.best ? from->state.best->value : std::nan(""), at::kDouble);
  start[0] = from ? from->state.step : -1;
  start[1] = from && from->data_changed ? 1 : 0;
  request.ranks->broadcast(start);
  on_all_ranks(request, [&] {
    require<DataError>((from ? from->state.step : -1) == start[0].item<int64_t>(),
                       "the run folder: the checkpoint must be the same for all ranks");
  });
  if (from) {
    from->data_changed = start[1].item<double>() != 0;
    if (std::isnan(start[2].item<double>())) {
      from->state.best.reset();
      from->state.best_loss.reset();
    }
  }
}

}  // namespace

TrainResult resume(const std::string& path, const TrainRequest& request) {
  std::optional<RunFolder> folder;
  Continued run;
  const KeepThreads keep;
  std::optional<Deterministic> deterministic;
  Json began;
  const auto read = [&] {
    run = read_run(path, request);
    deterministic.emplace(asks_for_deterministic(run.recipe, request));
    began = environment_of(path, run.from.has_value(), observer_of(request));
  };
  on_all_ranks(request, [&] {
    if (is_first(request.ranks)) {
      require_may_change(request.changes);
      folder.emplace(RunFolder::open(path));
      folder->clear_litter();
      observer_of(request).entered(path);
      read();
    }
  });
  on_all_ranks(request, [&] {  // when the first one has set aside what is damaged
    if (!is_first(request.ranks)) {
      read();
    }
  });
  on_all_ranks(request, [&] {  // which may read all data
    const bool as_before = take_threads_of_run(path, began, request);
    prepare_run(run, path, request);
    if (!as_before) {
      take_threads_for(run.prepared, request);
    }
    compare_machines(began, run.recipe, request);
  });
  const Json data = fingerprint_of_all(run.prepared.data, request);
  on_all_ranks(request, [&] {
    if (folder) {
      go_on_in(*folder, began, data, run, request);
    }
  });
  agree_on_start(run.from, request);
  return run_in(path, std::move(run.prepared), run.from ? &*run.from : nullptr, request);
}

}  // namespace weyl
