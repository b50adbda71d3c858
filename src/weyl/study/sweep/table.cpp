#include "weyl/study/sweep/table.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <sstream>

#include "weyl/core/check.h"
#include "weyl/core/checksum.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"
#include "weyl/study/sweep/folder_lock.h"

namespace weyl {
namespace {

constexpr size_t largest_result = size_t{1} << 24;

double number_of(const Json& json, const char* key) {
  const Json* found = json.find(key);
  return found != nullptr ? found->number_or(NAN) : NAN;
}

void take_result(const Json& json, const std::string& asked, TrialOutcome& outcome) {
  outcome.tokens = number_of(json, "tokens");
  outcome.flops = number_of(json, "nominal_flops");
  outcome.flops_real = number_of(json, "flops");
  outcome.seconds = number_of(json, "seconds");
  std::string metric = asked;
  if (const Json* best = json.find("best")) {
    const double valid = number_of(*best, "value");
    outcome.valid = std::isfinite(valid) ? std::optional(valid) : std::nullopt;
    metric = asked.empty() && best->find("metric") != nullptr ? best->find("metric")->string_or("") : asked;
  }
  const Json* test = json.find("test");
  const Json* metrics = test != nullptr ? test->find("metrics") : nullptr;
  const Json* found = metrics != nullptr ? metrics->find(metric) : nullptr;
  const double loss = found != nullptr ? number_of(*found, "value") : NAN;
  if (std::isfinite(loss)) {
    outcome.loss = loss;
  } else if (metrics == nullptr) {
    outcome.missing = "no test data";
  } else {
    outcome.missing = "the test data have no metric '" + metric + "'";
  }
}

void add_cell(std::string& line, double number) {
  if (std::isfinite(number)) {
    append_number(line, number);
  }
  line += ',';
}

/// The trial that counts: the lowest validation, of equal ones the first; -1: all failed.
int64_t chosen_of(const std::vector<TrialOutcome>& outcomes) {
  int64_t chosen = -1;
  const auto valid = [&](int64_t i) {
    return outcomes[static_cast<size_t>(i)].valid.value_or(std::numeric_limits<double>::infinity());
  };
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (outcomes[i].state == TrialOutcome::State::done && (chosen < 0 || valid(index) < valid(chosen))) {
      chosen = index;
    }
  }
  return chosen;
}

std::string note_of(const SweepRow& row, const std::vector<TrialOutcome>& outcomes, int64_t chosen,
                    bool early) {
  std::string note;
  const auto add = [&](const std::string& part) { note += (note.empty() ? "" : "; ") + part; };
  if (chosen >= 0 && !outcomes[static_cast<size_t>(chosen)].loss) {
    add(outcomes[static_cast<size_t>(chosen)].missing);
  }
  if (early) {
    add("stopped early");
  }
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const bool failed = outcomes[i].state == TrialOutcome::State::failed;
    if (failed) {
      add("rate " + short_number(row.trials[i].rate) + " failed: " + outcomes[i].reason);
    } else if (static_cast<int64_t>(i) != chosen) {
      add("rate " + short_number(row.trials[i].rate) + " had " +
          (outcomes[i].valid ? "a validation of " + short_number(*outcomes[i].valid) : "no validation"));
    }
  }
  return note;
}

std::string line_of(const SweepRuns& runs, const SweepRow& row, const ModelFacts& facts,
                    const std::vector<TrialOutcome>& outcomes) {
  const SweepModel& model = runs.models[row.model];
  const int64_t chosen = chosen_of(outcomes);
  TrialOutcome none;
  none.tokens = none.flops = none.flops_real = none.seconds = NAN;
  const TrialOutcome& o = chosen >= 0 ? outcomes[static_cast<size_t>(chosen)] : none;
  const bool early = (runs.options.unit == BudgetUnit::flops ? o.flops : o.seconds) < row.budget;
  std::string line = csv_cell(model.system) + "," + csv_cell(model.size) + ",";
  add_cell(line, static_cast<double>(facts.parameters));
  add_cell(line, o.tokens);
  add_cell(line, facts.tokens > 0 ? std::min(o.tokens, facts.tokens) : o.tokens);
  add_cell(line, o.flops);
  add_cell(line, o.flops_real);
  add_cell(line, row.budget);
  add_cell(line, o.loss.value_or(NAN));
  add_cell(line, o.seconds);
  add_cell(line, static_cast<double>(row.seed));
  add_cell(line, row.trials[static_cast<size_t>(std::max<int64_t>(chosen, 0))].rate);
  return line + csv_cell(note_of(row, outcomes, chosen, early)) + "\n";
}

}  // namespace

std::string run_of(const std::string& folder, const SweepTrial& trial) {
  return folder + "/runs/" + trial.id;
}

std::string failure_of(const std::string& folder, const SweepTrial& trial) {
  return run_of(folder, trial) + ".failed";
}

TrialOutcome outcome_of(const std::string& folder, const SweepTrial& trial, const std::string& loss) {
  TrialOutcome outcome;
  const std::string path = run_of(folder, trial) + "/result.json";
  const FileContents result = read_file(path, largest_result);
  if (result.fault.empty()) {
    try {
      take_result(Json::parse(result.text, path), loss, outcome);
      outcome.state = TrialOutcome::State::done;
      return outcome;
    } catch (const DataError&) {  // to be made again: the run goes on from its last checkpoint
    }
  }
  const FileContents failure = read_file(failure_of(folder, trial), largest_result);
  if (failure.fault.empty()) {
    outcome.state = TrialOutcome::State::failed;
    outcome.reason = failure.text.substr(0, failure.text.find('\n'));
  }
  return outcome;
}

std::string table_of(const SweepRuns& runs, const std::vector<ModelFacts>& facts, const std::string& folder) {
  std::string table = sweep_table_header;
  for (const SweepRow& row : runs.rows) {
    std::vector<TrialOutcome> outcomes;
    for (const SweepTrial& trial : row.trials) {
      outcomes.push_back(outcome_of(folder, trial, runs.options.loss));
    }
    if (std::ranges::none_of(outcomes,
                             [](const auto& o) { return o.state == TrialOutcome::State::waiting; })) {
      table += line_of(runs, row, facts[row.model], outcomes);
    }
  }
  return table;
}

namespace {

std::set<std::string> lines_of(const std::string& table) {
  std::istringstream lines(table);
  std::set<std::string> all;
  for (std::string line; std::getline(lines, line);) {
    all.insert(line);
  }
  return all;
}

}  // namespace

void write_table(const SweepRuns& runs, const std::vector<ModelFacts>& facts, const std::string& folder) {
  const FolderLock lock(folder);
  const std::string path = folder + "/runs.csv", table = table_of(runs, facts, folder);
  const FileContents there = read_file(path, std::numeric_limits<size_t>::max());
  require<DataError>(there.fault.empty() || there.error == ENOENT, path, ": ", there.fault);
  std::string before;
  if (there.error != ENOENT) {
    // The note has the checksums of the table that was written last, and of the one before, which is there still where the
    // process was killed between. Versions without notes have an empty one.
    before = checksum(std::as_bytes(std::span(there.text))) + "\n";
    const std::string note = lock.note();
    const bool own = note.empty() ? std::ranges::includes(lines_of(table), lines_of(there.text))
                                  : note.find(before) != std::string::npos;
    require<ConfigError>(
        own, path,
        ": must be as this sweep has written it, but was changed since, or is another's; move "
        "it away, and it is made anew from ",
        folder, "/runs");
  }
  lock.set_note(before + checksum(std::as_bytes(std::span(table))) + "\n");
  lock.write(path, table);
}

}  // namespace weyl
