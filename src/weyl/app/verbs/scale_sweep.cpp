#include "weyl/app/verbs/scale_sweep.h"

#include <signal.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/signals.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/app/verbs/machine.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/comparable.h"
#include "weyl/study/sweep/folder_lock.h"
#include "weyl/study/sweep/own_process.h"
#include "weyl/study/sweep/record.h"
#include "weyl/study/sweep/runner.h"
#include "weyl/study/sweep/table.h"

namespace weyl {

SweepRuns runs_of_file(const std::string& path, const Machine& machine, const Systems& systems) {
  SweepOptions options = read_sweep(path);
  if (machine.dtype) {
    options.set.push_back("train.precision=" + *machine.dtype);
  }
  SweepRuns runs = runs_of(std::move(options), options_of(systems));
  std::set<std::string> warnings;
  for (const SweepModel& model : runs.models) {
    for (const std::string& warning : model.recipe.warnings) {
      if (warnings.insert(warning).second) {
        warn(warning);
      }
    }
  }
  return runs;
}

std::vector<ModelCost> costs_of(const SweepRuns& runs, const MeasureOptions& options, const Systems& systems,
                                bool without_data, bool quiet) {
  SweepData data;
  std::vector<ModelCost> costs;
  const auto of_all = [&](const MeasureOptions& how, const auto& progress) {
    costs.clear();
    for (const SweepModel& model : runs.models) {
      const Splits* splits = data.of(model.recipe);
      require<DataError>(splits != nullptr || without_data, path_of(model.recipe.data),
                         ": must be the data of the sweep, but is not there");
      try {
        costs.push_back(cost_of(model.recipe, splits, how, systems));
      } catch (const ConfigError& error) {
        throw ConfigError(text(model.system, " ", model.size, ": ", error.what()));
      }
      progress(model);
    }
  };
  MeasureOptions timed = options;
  timed.loss = runs.options.loss;
  timed.choose = std::ranges::any_of(runs.rows, [](const SweepRow& row) { return row.trials.size() > 1; });
  MeasureOptions untimed = timed;
  untimed.steps = 0;
  of_all(untimed, [](const SweepModel&) {});  // finds what is wrong with any before the first is timed
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i].evaluated = data.evaluated(runs.models[i].recipe);
  }
  for (const std::string& note : require_comparable(runs, costs)) {
    warn_if_any(note);
  }
  if (options.steps > 0) {
    Progress progress("timing", static_cast<int64_t>(runs.models.size()), Progress::style_for_stderr(quiet));
    of_all(timed, [&](const SweepModel& model) {
      progress.update(static_cast<int64_t>(costs.size()), model.system + " " + model.size);
    });
    progress.clear();
  }
  return costs;
}

TrainWords words_of(const SweepRuns& runs, const SweepRow& row, const SweepTrial& trial,
                    const ModelCost& cost, const Machine& machine, int64_t ranks) {
  const std::vector<std::string> common{"--device", machine.device, "--quiet", "--json", "--no-pictures"};
  TrainWords words{{"train", runs.models[row.model].config}, {"train"}};
  const auto overrides = overrides_of(runs, row, trial, cost.facts.flops_a_token, cost.facts.tokens);
  words.train.insert(words.train.end(), overrides.begin(), overrides.end());
  const int64_t threads = machine.threads > 0 ? cost.threads : std::max<int64_t>(1, cost.threads / ranks);
  words.train.insert(words.train.end(), {"--threads", std::to_string(threads)});
  if (ranks > 1) {  // of one nothing is said, as of a sweep before there were ranks
    for (std::vector<std::string>* some : {&words.train, &words.resume}) {
      some->insert(some->end(), {"--ranks", std::to_string(ranks)});
    }
  }
  words.train.insert(words.train.end(), common.begin(), common.end());
  words.resume.insert(words.resume.end(), common.begin(), common.end());
  return words;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of some trainings of one step side by side, from start to end: a run without its steps and validations.
/// Where one fails, `fault` says why. A stop that is asked for ends them, and their folder goes.
double seconds_of_a_start(const std::vector<std::string>& words, int64_t jobs, std::string& fault) {
  const TemporaryFolder folder("sweep");
  std::vector<std::unique_ptr<OwnProcess>> processes;
  const auto start = Clock::now();
  for (int64_t i = 0; i < jobs; ++i) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--out", folder / std::to_string(i)});
    processes.push_back(std::make_unique<OwnProcess>(arguments));
  }
  for (const auto& process : processes) {
    while (!process->has_ended()) {
      if (stop_requested()) {
        process->send(SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (process->end().code != 0 || process->end().signal != 0) {
      fault = process->reason();
    }
  }
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Of each system, by its first model: what its runs need beside their steps. Returns what is to be said of it.
std::vector<std::string> time_starts(const SweepRuns& runs, const MeasureOptions& options,
                                     const Machine& machine, std::vector<ModelCost>& costs) {
  std::map<std::string, double> fixed;
  std::vector<std::string> notes;
  catch_signals("a folder of short trainings is left where the system keeps temporary files");
  for (const SweepRow& row : runs.rows) {
    const SweepModel& model = runs.models[row.model];
    const ModelCost& cost = costs[row.model];
    if (cost.facts.tokens == 0 || fixed.contains(model.system) || stop_requested()) {
      continue;
    }
    TrainWords words = words_of(runs, row, row.trials.front(), cost, machine);
    for (const char* one_step :
         {"train.flops=false", "train.max_seconds=false", "train.steps=1", "train.evaluate_every=1e9"}) {
      words.train.emplace_back(one_step);
    }
    std::string fault;
    const double seconds = seconds_of_a_start(words.train, options.jobs, fault);
    if (!fault.empty()) {
      notes.push_back(text(model.system, " ", model.size, ": a training of one step fails: ", fault));
    }
    fixed[model.system] =
        fault.empty() ? std::max(0.0, seconds - cost.step_seconds - cost.valid_seconds - cost.test_seconds)
                      : 0;
  }
  for (size_t i = 0; i < costs.size(); ++i) {
    costs[i].fixed_seconds = fixed[runs.models[i].system];
  }
  return notes;
}

std::string rates_text(const SweepRow& row) {
  std::string rates;
  for (const SweepTrial& trial : row.trials) {
    rates += (rates.empty() ? "" : ", ") + short_number(trial.rate);
  }
  return rates;
}

/// "-" for what is known once steps are timed.
std::string number_if_known(double number) {
  return std::isfinite(number) ? short_number(number) : "-";
}

std::string hours(double seconds) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, seconds < 360 ? "%.4f" : "%.2f", seconds / 3600);
  return buffer;
}

std::vector<std::string> plan_notes(const SweepRuns& runs, const std::vector<ModelCost>& costs,
                                    const SweepPlan& plan) {
  std::vector<std::string> notes;
  std::set<std::string> once;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i].how.empty()) {
      const bool many = costs[i].how == "timed on random tokens";
      const std::string note =
          many ? "no data are there: timed on random tokens"
               : text(runs.models[i].system, " ", runs.models[i].size, ": ", costs[i].how);
      if (once.insert(note).second) {
        notes.push_back(note);
      }
    }
  }
  for (size_t i = 0; i < costs.size(); ++i) {
    if (!costs[i].evaluation.empty() && once.insert(costs[i].evaluation).second) {
      notes.push_back("no data are there: " + costs[i].evaluation);
    }
  }
  if (std::ranges::any_of(plan.rows, &PlannedRow::unvalidated)) {
    notes.push_back(
        "validations are not in the hours: the data's options, train, do not say how many samples an epoch "
        "has, nor the sweep file, validations, how many there are");
  }
  double most = 0;
  int64_t repeating = 0;
  for (const PlannedRow& row : plan.rows) {
    most = std::max(most, row.tokens);
    repeating += row.repeats ? 1 : 0;
  }
  if (repeating > 0) {
    notes.push_back(text(
        repeating, " of ", plan.rows.size(), " runs see samples more than once",
        runs.options.epochs == SweepEpochs::unique ? ", which `scale run` refuses (epochs = \"unique\")" : "",
        ": the largest needs ", short_number(most), " tokens, the data have ",
        short_number(costs[runs.rows.front().model].facts.tokens)));
  }
  return notes;
}

Json plan_json(const SweepRuns& runs, const std::vector<ModelCost>& costs, const SweepPlan& plan,
               const std::vector<std::string>& notes, int64_t jobs) {
  Json rows = Json::array();
  const auto or_null = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  for (size_t i = 0; i < runs.rows.size(); ++i) {
    const SweepRow& row = runs.rows[i];
    const PlannedRow& p = plan.rows[i];
    Json rates = Json::array();
    for (const SweepTrial& trial : row.trials) {
      rates.add(trial.rate);
    }
    rows.add(Json::object()
                 .set("system", runs.models[row.model].system)
                 .set("size", runs.models[row.model].size)
                 .set("parameters", costs[row.model].facts.parameters)
                 .set("budget", row.budget)
                 .set("seed", row.seed)
                 .set("rates", rates)
                 .set("tokens", p.tokens)
                 .set("steps", p.steps)
                 .set("flops", p.flops)
                 .set("flops_real", p.flops_real)
                 .set("threads", costs[row.model].threads)
                 .set("repeats", p.repeats)
                 .set("seconds", or_null(p.seconds)));
  }
  Json budgets = Json::array();
  for (size_t b = 0; b < runs.options.budgets.size(); ++b) {
    budgets.add(Json::object()
                    .set("budget", runs.options.budgets[b])
                    .set("seconds", plan.total_seconds ? Json(plan.budget_seconds[b]) : Json()));
  }
  Json said = Json::array();
  for (const std::string& note : notes) {
    said.add(note);
  }
  return Json::object()
      .set("runs", rows)
      .set("budgets", budgets)
      .set("budget_unit", names_of(runs.options.unit)[static_cast<size_t>(runs.options.unit)])
      .set("jobs", jobs)
      .set("seconds", or_null(plan.total_seconds))
      .set("notes", said);
}

void print_plan(const SweepRuns& runs, const std::vector<ModelCost>& costs, const SweepPlan& plan,
                const std::vector<std::string>& notes, int64_t jobs) {
  const bool timed = plan.total_seconds.has_value();
  std::vector<std::vector<std::string>> table{{"system", "size", "parameters", "budget", "seed", "tokens",
                                               "steps", "FLOPs", "real", "rates", "hours"}};
  size_t trainings = 0;
  for (size_t i = 0; i < runs.rows.size(); ++i) {
    const SweepRow& row = runs.rows[i];
    const PlannedRow& p = plan.rows[i];
    trainings += row.trials.size();
    table.push_back({runs.models[row.model].system, runs.models[row.model].size,
                     std::to_string(costs[row.model].facts.parameters), short_number(row.budget),
                     std::to_string(row.seed), number_if_known(p.tokens), number_if_known(p.steps),
                     number_if_known(p.flops), number_if_known(p.flops_real), rates_text(row),
                     p.seconds ? hours(*p.seconds) : "-"});
  }
  std::cout << aligned(table) << "\n" << runs.rows.size() << " rows, " << trainings << " trainings\n";
  if (timed) {
    for (size_t b = 0; b < runs.options.budgets.size(); ++b) {
      std::cout << "budget " << short_number(runs.options.budgets[b]) << ": " << hours(plan.budget_seconds[b])
                << " hours, one after the other\n";
    }
    std::cout << "all with --jobs " << jobs << ": " << hours(*plan.total_seconds)
              << " hours on this machine\n";
  }
  for (const std::string& note : notes) {
    std::cout << note << "\n";
  }
}

}  // namespace

int run(const ScalePlanCommand& command, const Systems& systems) {
  const SweepRuns runs = runs_of_file(command.sweep, command.machine, systems);
  const MeasureOptions options{device_of(command.machine), command.jobs, command.machine.threads,
                               command.steps};
  std::vector<ModelCost> costs = costs_of(runs, options, systems, true, command.output.quiet);
  std::vector<std::string> faults;
  if (command.steps > 0) {
    faults = time_starts(runs, options, command.machine, costs);
    if (stop_requested()) {
      return exit_interrupted;
    }
  }
  const SweepPlan plan = plan_of(runs, costs, command.jobs);
  std::vector<std::string> notes = plan_notes(runs, costs, plan);
  if (command.steps > 0 && !options.device.is_cpu()) {
    notes.emplace_back(
        "memory of a CUDA device is not foreseen: a batch that does not fit there ends the plan, or its "
        "runs");
  }
  notes.insert(notes.end(), faults.begin(), faults.end());
  if (command.output.json) {
    std::cout << plan_json(runs, costs, plan, notes, command.jobs).dump() << "\n";
  } else {
    print_plan(runs, costs, plan, notes, command.jobs);
  }
  return exit_done;
}

namespace {

struct Shard {
  int64_t index = 1, count = 1;
};

Shard shard_of(const std::string& words) {
  if (words.empty()) {
    return {};
  }
  const size_t slash = words.find('/');
  const int64_t index = parse_integer(words.substr(0, slash)).value_or(0);
  const int64_t count = slash == std::string::npos ? 0 : parse_integer(words.substr(slash + 1)).value_or(0);
  require<ConfigError>(index >= 1 && index <= count, "--shard: must be I/N, I from 1 to N, got ",
                       quote(words));
  return {index, count};
}

/// All that decides a trial's numbers: the words of its command, and its model's config in full.
std::string recipe_of(const SweepModel& model, const std::vector<std::string>& words) {
  std::string recipe = "# weyl";
  for (const std::string& word : words) {
    recipe.append(" ").append(visible(word));
  }
  Recipe whole = model.recipe;
  return recipe.append("\n") + write_toml([&](Fields& f) { fields(f, whole); });
}

/// The trials of a shard. ConfigError: the folder has one, of this shard or another, that another sweep made.
std::vector<TrialCommand> trial_commands(const SweepRuns& runs, const std::vector<ModelCost>& costs,
                                         const ScaleRunCommand& command, Shard shard) {
  std::vector<TrialCommand> commands;
  int64_t number = 0;
  for (const SweepRow& row : runs.rows) {
    for (const SweepTrial& trial : row.trials) {
      TrainWords words = words_of(runs, row, trial, costs[row.model], command.machine, command.ranks);
      std::string recipe = recipe_of(runs.models[row.model], words.train);
      require_same_recipe(command.out, trial, recipe);
      if (number++ % shard.count == shard.index - 1) {
        commands.push_back(
            {&row, &trial, std::move(words.train), std::move(words.resume), std::move(recipe)});
      }
    }
  }
  return commands;
}

std::string result_text(const SweepRuns& runs, const std::string& folder, const SweepTrial& trial) {
  const TrialOutcome o = outcome_of(folder, trial, runs.options.loss);
  return o.loss ? text("done, loss ", short_number(*o.loss), ", ", clock_text(o.seconds))
                : "done, but no loss: " + o.missing;
}

/// Writes the table of a sweep, with a twentieth of the time at most: of 100,000 runs it takes seconds.
class TableWriter {
 public:
  TableWriter(const SweepRuns& runs, const std::vector<ModelFacts>& facts, const std::string& folder)
      : runs_(runs), facts_(facts), folder_(folder) {}

  void write() {
    const auto start = Clock::now();
    write_table(runs_, facts_, folder_);
    written_ = Clock::now();
    took_ = written_ - start;
  }
  /// A table that somebody has changed meanwhile is left alone; the write at the end says so.
  void write_if_due() {
    if (Clock::now() - written_ >= 20 * took_) {
      try {
        write();
      } catch (const ConfigError&) {
      }
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  const SweepRuns& runs_;
  const std::vector<ModelFacts>& facts_;
  const std::string& folder_;
  Clock::time_point written_;
  Clock::duration took_{};
};

std::string rows_text(int64_t count, const char* what) {
  return count > 0 ? text(", ", count, " ", what) : "";
}

}  // namespace

int run(const ScaleRunCommand& command, const Systems& systems) {
  catch_signals("the table and the checkpoints of its trainings are whole; the same command goes on");
  const Shard shard = shard_of(command.shard);
  const SweepRuns runs = runs_of_file(command.sweep, command.machine, systems);
  const std::string sweep = contents_of(command.sweep);  // at once: it may be edited meanwhile
  const MeasureOptions options{device_of(command.machine), command.jobs, command.machine.threads, 0};
  const std::vector<ModelCost> costs = costs_of(runs, options, systems, false, command.output.quiet);
  std::vector<ModelFacts> facts;
  for (const ModelCost& cost : costs) {
    facts.push_back(cost.facts);
  }
  require_unique(runs, facts);
  require_sweep_folder(command.out, runs, sweep);
  const std::vector<TrialCommand> trials = trial_commands(runs, costs, command, shard);
  make_folder(command.out + "/runs");
  TableWriter table(runs, facts, command.out);
  table.write();  // first: require_sweep_folder knows by it what a start that was killed has left
  {
    const FolderLock lock(command.out);
    lock.clear_unfinished();
    lock.write(command.out + "/sweep.toml", sweep);  // for the record
  }
  SweepRequest request;
  request.folder = command.out;
  request.jobs = command.jobs;
  request.retry = command.retry;
  request.stop = stop_requested;
  request.ended = [&] { table.write_if_due(); };
  request.told = [&](const TrialCommand& t, const std::string& line) {
    const std::string words = line == "done" ? result_text(runs, command.out, *t.trial) : line;
    say(text("run ", &t - trials.data() + 1, " of ", trials.size(), ", ", t.trial->id, ": ", words));
  };
  const SweepEnd end = run_trials(trials, request);
  table.write();

  const std::string csv = command.out + "/runs.csv";
  const auto total = static_cast<int64_t>(trials.size());
  if (end.stopped || end.left > 0) {
    say("stopped; the same command goes on");
  }
  if (command.output.json) {
    std::cout << Json::object()
                     .set("runs", total)
                     .set("done", end.done)
                     .set("failed", end.failed)
                     .set("elsewhere", end.elsewhere)
                     .set("table", csv)
                     .dump()
              << "\n";
  } else {
    std::cout << end.done << " of " << total << " runs done"
              << rows_text(end.failed, "failed (--retry tries them again)")
              << rows_text(end.elsewhere, "trained elsewhere") << "\n"
              << csv << "\n";
  }
  if (end.stopped || end.left > 0 || end.elsewhere > 0) {
    return exit_interrupted;
  }
  return end.failed > 0 ? exit_failed : exit_done;
}

}  // namespace weyl
