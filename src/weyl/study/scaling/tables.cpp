#include "weyl/study/scaling/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/quote.h"
#include "weyl/core/text_number.h"

namespace weyl {
namespace {

constexpr size_t longest_line = 65536;
constexpr int64_t most_lines = 20'000;
constexpr size_t most_refused = 1000;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string_view trimmed(std::string_view cell) {
  const size_t begin = cell.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? ""
                                         : cell.substr(begin, cell.find_last_not_of(" \t\r") - begin + 1);
}

CsvRow cells_of(std::string_view line) {
  CsvRow cells = csv_cells(line);
  for (std::string& cell : cells) {
    cell = std::string(trimmed(cell));
  }
  return cells;
}

}  // namespace

CsvLines::CsvLines(std::string_view text, std::string_view where, const std::vector<std::string>& needed)
    : where_(where), rest_(text) {
  if (rest_.starts_with(byte_order_mark)) {
    rest_.remove_prefix(byte_order_mark.size());
  }
  std::string_view header;
  require<DataError>(next(header), where_, ": must be a CSV file with a header of columns, holds nothing");
  columns_ = cells_of(header);
  for (const std::string& name : columns_) {
    require<DataError>(name.empty() || std::ranges::count(columns_, name) == 1, where_, ": column ",
                       quote(name), " is there twice");
  }
  for (const std::string& name : needed) {
    require<DataError>(column(name) >= 0, where_, ": must have the columns ", joined(needed), "; ",
                       quote(name), " is missing in ", quote(trimmed(header)));
  }
}

int64_t CsvLines::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  return found == columns_.end() ? -1 : found - columns_.begin();
}

// The next line that holds something.
bool CsvLines::next(std::string_view& line) {
  while (!rest_.empty()) {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    require<DataError>(line_ <= most_lines, where_, ": must have at most ", most_lines, " lines");
    require<DataError>(line.size() <= longest_line, where_, ":", line_, ": a line must have at most ",
                       longest_line, " characters, got ", line.size());
    if (const std::string_view held = trimmed(line); !held.empty() && held.front() != '#') {
      return true;
    }
  }
  return false;
}

void CsvLines::each(const std::function<void(int64_t line, const CsvRow& cells)>& row) {
  for (std::string_view line; next(line);) {
    if (const CsvRow cells = cells_of(line); cells.size() == columns_.size()) {
      row(line_, cells);
    } else {
      refuse(line_, text("must have ", columns_.size(), " cells, got ", cells.size()));
    }
  }
}

void CsvLines::refuse(int64_t line, std::string reason) {
  if (refused_.size() < most_refused) {
    refused_.push_back({line, std::move(reason)});
  } else if (refused_.size() == most_refused) {
    refused_.push_back({line, "this and others after it are refused likewise"});
  }
}

CsvNumber positive_number(std::string_view column, const std::string& cell) {
  if (cell.empty()) {
    return {0, text(column, " is missing")};
  }
  const auto value = parse_real(cell);
  if (!value) {
    return {0, text(column, " must be a number, got ", quote(cell))};
  }
  if (!std::isfinite(*value) || !(*value > 0)) {
    return {0, text(column, " must be positive and finite, got ", quote(cell))};
  }
  return {*value, ""};
}

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

namespace {

constexpr size_t most_bytes = size_t{1} << 20;

// The numbers of one row, refused by file and line.
class Row {
 public:
  Row(const CsvLines& lines, std::string_view where, int64_t line, const CsvRow& cells)
      : lines_(lines), where_(where), line_(line), cells_(cells) {}

  const std::string& cell(std::string_view name) const {
    static const std::string absent;
    const int64_t place = lines_.column(name);
    return place < 0 ? absent : cells_[static_cast<size_t>(place)];
  }
  double positive(std::string_view name) const {
    const CsvNumber number = positive_number(name, cell(name));
    require<DataError>(number.fault.empty(), where_, ":", line_, ": ", number.fault);
    return number.value;
  }

 private:
  const CsvLines& lines_;
  std::string_view where_;
  int64_t line_;
  const CsvRow& cells_;
};

}  // namespace

std::vector<GivenLaw> parse_coefficients(std::string_view contents, std::string_view where) {
  CsvLines lines(contents, where, {"system", "A", "alpha", "B", "beta"});
  std::vector<GivenLaw> laws;
  lines.each([&](int64_t line, const CsvRow& cells) {
    const Row row(lines, where, line, cells);
    GivenLaw given;
    given.system = row.cell("system");
    require<DataError>(!given.system.empty(), where, ":", line, ": system is missing");
    require<DataError>(std::ranges::find(laws, given.system, &GivenLaw::system) == laws.end(), where, ":",
                       line, ": system ", quote(given.system), " is there twice");
    given.law = {row.positive("A"), row.positive("alpha"), row.positive("B"), row.positive("beta"), 0};
    const std::string& E = row.cell("E");
    if (!E.empty() && parse_real(E) != 0.0) {  // 0, 0.0, -0: none
      given.law.E = row.positive("E");
    }
    if (!row.cell("xi").empty()) {
      given.xi = row.positive("xi");
    }
    laws.push_back(std::move(given));
  });
  if (!lines.refused().empty()) {
    throw DataError(text(where, ":", lines.refused().front().line, ": ", lines.refused().front().reason));
  }
  require<DataError>(!laws.empty() && laws.size() <= 100, where, ": must hold one to 100 systems, holds ",
                     laws.size());
  return laws;
}

std::vector<GivenLaw> read_coefficients(const std::string& path) {
  const FileContents file = read_file(path, most_bytes);
  if (file.error != 0) {
    throw_unread(path + ": " + file.fault, file.error);
  }
  require<DataError>(file.fault.empty(), path, ": ", file.fault);
  return parse_coefficients(file.text, path);
}

}  // namespace weyl
