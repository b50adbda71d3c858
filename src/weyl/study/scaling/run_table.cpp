#include "weyl/study/scaling/run_table.h"

#include <algorithm>
#include <array>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/read_file.h"

namespace weyl {
namespace {

constexpr size_t most_table_bytes = size_t{64} << 20;
constexpr size_t most_systems = 1000;

// "" or why the number is none.
std::string take(std::string_view column, const CsvRow& cells, int64_t place, double& number) {
  CsvNumber read = positive_number(column, cells[static_cast<size_t>(place)]);
  number = read.value;
  return read.fault;
}

std::string take_if_there(std::string_view column, const CsvRow& cells, int64_t place,
                          std::optional<double>& number) {
  if (place < 0 || cells[static_cast<size_t>(place)].empty()) {
    return "";
  }
  return take(column, cells, place, number.emplace());
}

}  // namespace

double epochs_of(const ScalingRun& run) {
  return run.unique_tokens ? std::max(1.0, run.tokens / *run.unique_tokens) : 1;
}

bool saw_more_than(const ScalingRun& run, double epochs) {
  return epochs_of(run) > same_epochs * epochs;
}

std::vector<std::string> RunTable::systems() const {
  std::vector<std::string> names;
  for (const ScalingRun& run : runs) {
    if (std::ranges::find(names, run.system) == names.end()) {
      names.push_back(run.system);
    }
  }
  return names;
}

std::vector<ScalingRun> RunTable::of(std::string_view system) const {
  std::vector<ScalingRun> found;
  std::ranges::copy_if(runs, std::back_inserter(found),
                       [&](const ScalingRun& r) { return r.system == system; });
  return found;
}

RunTable parse_runs(std::string_view text, std::string_view where) {
  CsvLines lines(text, where, {"system", "parameters", "tokens", "loss"});
  RunTable table;
  table.file = std::string(where);
  const int64_t system = lines.column("system"), parameters = lines.column("parameters"),
                tokens = lines.column("tokens"), loss = lines.column("loss"), flops = lines.column("flops"),
                unique = lines.column("unique_tokens"), budget = lines.column("budget");
  std::set<std::string, std::less<>> systems;
  lines.each([&](int64_t line, const CsvRow& cells) {
    ScalingRun run;
    run.line = line;
    run.system = cells[static_cast<size_t>(system)];
    for (const std::string& fault :
         {run.system.empty() ? std::string("system is missing") : std::string(),
          take("parameters", cells, parameters, run.parameters), take("tokens", cells, tokens, run.tokens),
          take("loss", cells, loss, run.loss), take_if_there("flops", cells, flops, run.flops),
          take_if_there("unique_tokens", cells, unique, run.unique_tokens),
          take_if_there("budget", cells, budget, run.budget)}) {
      if (!fault.empty()) {
        lines.refuse(line, fault);
        return;
      }
    }
    systems.insert(run.system);
    require<DataError>(systems.size() <= most_systems, where, ":", line, ": must have at most ", most_systems,
                       " systems, got ", quote(run.system), " beyond them");
    table.runs.push_back(std::move(run));
  });
  table.refused = lines.refused();
  return table;
}

RunTable read_runs(const std::string& path) {
  const FileContents file = read_file(path, most_table_bytes);
  if (file.error != 0) {
    throw_unread(path + ": " + file.fault, file.error);
  }
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  return parse_runs(file.text, path);
}

}  // namespace weyl
