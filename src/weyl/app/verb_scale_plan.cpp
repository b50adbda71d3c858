#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <set>
#include <thread>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/machine.h"
#include "weyl/app/signals.h"
#include "weyl/app/sweep_costs.h"
#include "weyl/app/text_table.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/own_process.h"

namespace weyl {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of some trainings of one step side by side, from start to end: a run without its steps and validations.
/// Where one fails, `fault` says why. A stop that is asked for ends them, and their folder goes.
double seconds_of_a_start(const std::vector<std::string>& words, int64_t jobs, std::string& fault) {
  const TemporaryFolder folder("sweep");
  std::vector<pid_t> processes;
  const auto talk_of = [&](size_t i) { return folder / (std::to_string(i) + ".stderr"); };
  const auto start = Clock::now();
  for (int64_t i = 0; i < jobs; ++i) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--out", folder / std::to_string(i)});
    processes.push_back(start_own_process(arguments, talk_of(static_cast<size_t>(i))));
  }
  for (size_t i = 0; i < processes.size(); ++i) {
    ProcessEnd end;
    while (!has_ended(processes[i], end)) {
      if (stop_requested()) {
        kill(processes[i], SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (end.code != 0 || end.signal != 0) {
      fault = reason_of(end, talk_of(i));
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
                     std::to_string(row.seed), short_number(p.tokens), short_number(p.steps),
                     short_number(p.flops), short_number(p.flops_real), rates_text(row),
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
  std::vector<ModelCost> costs = costs_of(runs, options, systems, true, command.talk.quiet);
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
  if (command.talk.json) {
    std::cout << plan_json(runs, costs, plan, notes, command.jobs).dump() << "\n";
  } else {
    print_plan(runs, costs, plan, notes, command.jobs);
  }
  return exit_done;
}

}  // namespace weyl
