#include <chrono>
#include <filesystem>
#include <iostream>

#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/machine.h"
#include "weyl/app/progress.h"
#include "weyl/app/signals.h"
#include "weyl/app/sweep_costs.h"
#include "weyl/app/verbs.h"
#include "weyl/config/toml.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/kept_recipe.h"
#include "weyl/study/sweep/runner.h"

namespace weyl {
namespace {

struct Shard {
  int64_t index = 1, count = 1;
};

Shard shard_of(const std::string& words) {
  if (words.empty()) {
    return {};
  }
  const size_t slash = words.find('/');
  const auto index = parse_integer(words.substr(0, slash));
  const auto count = slash == std::string::npos ? std::nullopt : parse_integer(words.substr(slash + 1));
  require<ConfigError>(index && count && *count >= 1 && *index >= 1 && *index <= *count,
                       "--shard: must be I/N, I from 1 to N, got ", quote(words));
  return {*index, *count};
}

/// All that decides a trial's numbers: the words of its command, and its model's config in full.
std::string recipe_of(const SweepModel& model, const std::vector<std::string>& words) {
  std::string recipe = "# weyl";
  for (const std::string& word : words) {
    recipe += " " + visible(word);
  }
  Recipe whole = model.recipe;
  return recipe + "\n" + write_toml([&](Fields& f) { fields(f, whole); });
}

/// The trials of a shard. ConfigError: the folder has one, of this shard or another, that another sweep made.
std::vector<TrialCommand> trial_commands(const SweepRuns& runs, const std::vector<ModelCost>& costs,
                                         const ScaleRunCommand& command, Shard shard) {
  std::vector<TrialCommand> commands;
  int64_t number = 0;
  for (const SweepRow& row : runs.rows) {
    for (const SweepTrial& trial : row.trials) {
      TrainWords words = words_of(runs, row, trial, costs[row.model], command.machine);
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

/// A folder of a sweep (a run of which begins with runs/ID.recipe), or one that holds nothing of the names of its files:
/// a table of others is not replaced.
void require_own_folder(const std::string& folder, const std::string& sweep) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder + "/runs", error)) {
    if (entry.path().extension() == ".recipe") {
      return;
    }
  }
  const std::string copy = folder + "/sweep.toml";
  const bool foreign = fs::exists(copy, error) && contents_of(copy) != sweep;
  for (const std::string& file : {folder + "/runs.csv", foreign ? copy : ""}) {
    require<ConfigError>(file.empty() || !fs::exists(file, error), "--out ", folder,
                         ": must be the folder of a sweep or a new one, but ", file, " is none of a sweep's");
  }
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
  void write_if_due() {
    if (Clock::now() - written_ >= 20 * took_) {
      write();
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
  const std::vector<ModelCost> costs = costs_of(runs, options, systems, false, command.talk.quiet);
  std::vector<ModelFacts> facts;
  for (const ModelCost& cost : costs) {
    facts.push_back(cost.facts);
  }
  require_unique(runs, facts);
  require_own_folder(command.out, sweep);
  std::error_code error;
  std::filesystem::create_directories(command.out, error);
  require<DataError>(!error, command.out, ": must be a folder that can be written, but ", error.message());

  const std::vector<TrialCommand> trials = trial_commands(runs, costs, command, shard);
  write_file_atomically(command.out + "/sweep.toml", sweep);  // for the record
  SweepRequest request;
  request.folder = command.out;
  request.jobs = command.jobs;
  request.retry = command.retry;
  request.stop = stop_requested;
  TableWriter table(runs, facts, command.out);
  request.ended = [&] { table.write_if_due(); };
  request.told = [&](const TrialCommand& t, const std::string& line) {
    const std::string words = line == "done" ? result_text(runs, command.out, *t.trial) : line;
    say(text("run ", &t - trials.data() + 1, " of ", trials.size(), ", ", t.trial->id, ": ", words));
  };
  table.write();
  const SweepEnd end = run_trials(trials, request);
  table.write();

  const std::string csv = command.out + "/runs.csv";
  const auto total = static_cast<int64_t>(trials.size());
  if (end.stopped || end.left > 0) {
    say("stopped; the same command goes on");
  }
  if (command.talk.json) {
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
