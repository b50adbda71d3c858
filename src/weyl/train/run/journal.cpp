#include "weyl/train/run/journal.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>

#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"

namespace weyl {
namespace {

std::string header_of(const std::vector<std::string>& columns) {
  std::string header;
  for (const auto& name : columns) {
    if (!header.empty()) {
      header += ',';
    }
    header += csv_cell(name);
  }
  header += '\n';
  return header;
}

// Length up to the last whole row, or the length asked for.
int64_t whole_rows(const std::string& path, const std::string& header, int64_t size) {
  const std::string contents = read_if_there(path);
  if (contents.empty() || size == 0) {
    require<DataError>(size <= 0, path, ": must have at least ", size, " bytes, got none");
    return 0;
  }
  require<DataError>(contents.starts_with(header), path, ": must begin with the columns ",
                     header.substr(0, header.size() - 1), ", got ",
                     quote(contents.substr(0, contents.find('\n'))));
  return size > 0 ? size : static_cast<int64_t>(contents.rfind('\n') + 1);
}

// Length of a CSV file up to the last whole row of at most `step` (its first column).
int64_t bytes_up_to(const std::string& path, int64_t step) {
  const std::string contents = read_if_there(path);
  size_t begin = contents.find('\n');
  if (begin == std::string::npos || step <= 0) {
    return 0;
  }
  for (size_t end = 0; (end = contents.find('\n', ++begin)) != std::string::npos; begin = end) {
    if (std::strtod(contents.c_str() + begin, nullptr) > static_cast<double>(step)) {
      break;
    }
  }
  return static_cast<int64_t>(begin);
}

const std::vector<std::string> first_columns{"step", "epoch", "rate", "loss", "gradient_norm"};

// A metric's column, as the header of a CSV file shows its name.
std::string column_of(const std::string& metric) {
  return csv_cells(csv_cell("valid_" + metric)).at(0);
}

std::vector<std::string> metric_columns(const std::vector<std::string>& metrics) {
  std::vector<std::string> columns = first_columns;
  for (const auto& name : metrics) {
    columns.push_back(column_of(name));
  }
  return columns;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether these are the columns of some metrics.csv.
bool are_metrics(const std::vector<std::string>& columns) {
  const auto n = static_cast<std::ptrdiff_t>(first_columns.size());
  return columns.size() >= first_columns.size() &&
         std::equal(first_columns.begin(), first_columns.end(), columns.begin()) &&
         std::all_of(columns.begin() + n, columns.end(),
                     [](const std::string& name) { return name.starts_with("valid_"); });
}

// Writes a table anew, its rows up to `bytes`, with `columns`, which hold all of its own; numbers stay as they are
// written. DataError: it is no table of numbers.
void rewrite(const std::string& path, const std::vector<std::string>& columns, int64_t bytes = -1) {
  const CsvTable table = read_csv(path, bytes);
  std::string contents = read_if_there(path);
  if (bytes >= 0 && bytes < static_cast<int64_t>(contents.size())) {
    contents.resize(static_cast<size_t>(bytes));
  }
  std::string anew = header_of(columns);
  size_t begin = contents.find('\n') + 1;
  for (size_t end = 0; (end = contents.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto cells = csv_cells(std::string_view(contents).substr(begin, end - begin));
    std::string line;
    for (const std::string& name : columns) {
      const int64_t from = table.column(name);
      line += (&name == columns.data() ? "" : ",") + (from < 0 ? "" : cells[static_cast<size_t>(from)]);
    }
    anew += line + '\n';
  }
  write_file_atomically(path, anew, Existing::replace_link);
}

// Makes a metrics.csv with other columns one that has these too, which are joined by its own, and says where its rows
// of a checkpoint at `step` end.
int64_t fit_columns(const std::string& path, std::vector<std::string>& columns, int64_t step, int64_t bytes) {
  const std::string contents = read_if_there(path);
  const size_t head = contents.find('\n');
  if (head == std::string::npos) {
    return bytes;
  }
  if (contents.starts_with(header_of(columns))) {
    // It may have been written anew after that checkpoint.
    const bool within = bytes <= static_cast<int64_t>(contents.size());
    return within && contents[static_cast<size_t>(bytes) - 1] != '\n' ? bytes_up_to(path, step) : bytes;
  }
  const auto own = csv_cells(std::string_view(contents).substr(0, head));
  if (!are_metrics(own)) {
    return bytes;
  }
  std::vector<std::string> all = columns;
  std::copy_if(own.begin(), own.end(), std::back_inserter(all),
               [&](const auto& name) { return !has(all, name); });
  const bool row_ends =
      bytes <= static_cast<int64_t>(contents.size()) && contents[static_cast<size_t>(bytes) - 1] == '\n';
  rewrite(path, all, row_ends ? bytes : bytes_up_to(path, step));
  columns = all;
  return static_cast<int64_t>(read_if_there(path).size());
}

const std::vector<std::string> time_columns{"step",     "seconds",   "steps",   "batch",      "forward",
                                            "backward", "optimiser", "logging", "validation", "saving"};

// A table that was written by a Journal, up to `bytes`; DataError where it was not.
void check_table(const std::string& path, const std::vector<std::string>& columns, int64_t bytes) {
  whole_rows(path, header_of(columns), bytes > 0 ? bytes : -1);
  const CsvTable table = read_csv(path, bytes);
  for (const auto& row : table.rows) {
    require<DataError>(row[0] >= 0 && row[0] < 9e15, path, ": steps must not be negative, got ", row[0]);
  }
}

void check_times(const std::string& path, int64_t bytes) {
  check_table(path, time_columns, bytes);
  for (const auto& row : read_csv(path, bytes).rows) {
    require<DataError>(std::isfinite(row[1]) && row[1] >= 0, path,
                       ": seconds must be finite and not negative, got ", row[1], " at step ", row[0]);
  }
}

// Of the last row up to a step that has them, whatever else is wrong in the file.
double last_seconds(const std::string& path, int64_t step) {
  double seconds = 0;
  std::error_code error;
  if (step <= 0 || !std::filesystem::is_regular_file(path, error)) {
    return seconds;
  }
  std::istringstream lines(read_if_there(path));
  for (std::string line; std::getline(lines, line);) {
    double row[2] = {NAN, NAN};
    const auto cells = csv_cells(line);
    for (size_t i = 0; i < std::min<size_t>(cells.size(), 2); ++i) {
      std::from_chars(cells[i].data(), cells[i].data() + cells[i].size(), row[i]);
    }
    if (row[0] <= static_cast<double>(step) && std::isfinite(row[1]) && row[1] >= 0) {
      seconds = row[1];
    }
  }
  return seconds;
}

// Sets a file of the journal aside when it is not what the check asks for; says so in a line.
void mend(const std::string& path, std::vector<std::string>& damages, const std::function<void()>& check) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  try {
    if (fs::exists(status)) {
      require<DataError>(fs::is_regular_file(status), path, ": must be a file, got ",
                         fs::is_symlink(status) ? "a symbolic link" : "something else");
    }
    check();
  } catch (const UnreadableError&) {
    throw;
  } catch (const DataError& damage) {
    damages.push_back(fs::exists(status) ? text(damage.what(), "; it is set aside as ", set_aside(path),
                                                " and a new one begins")
                                         : text(damage.what(), "; a new one begins"));
  }
}

constexpr const char* events_name = "/events.out.tfevents.0.weyl";

std::vector<std::string> mend_journal(const std::string& folder, std::vector<std::string>& columns,
                                      int64_t step, int64_t& metrics_bytes) {
  std::vector<std::string> damages;
  const std::string table = folder + "/metrics.csv", times = folder + "/timing.csv",
                    events = folder + events_name;
  mend(table, damages, [&] {
    if (metrics_bytes > 0) {
      metrics_bytes = fit_columns(table, columns, step, metrics_bytes);
      check_table(table, columns, metrics_bytes);
    }
  });
  mend(times, damages, [&] {
    if (step > 0 && !read_if_there(times).empty()) {
      check_times(times, bytes_up_to(times, step));
    }
  });
  mend(events, damages, [&] { intact_events(events, step > 0 ? step : -1); });
  return damages;
}

// Nothing of a file that was set aside. DataError when the disk does not say whether it is there: it would be cut.
int64_t bytes_if_there(const std::string& path, int64_t bytes) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  require<DataError>(std::filesystem::status_known(status), path, ": cannot be read: ", error.message());
  return std::filesystem::exists(status) ? bytes : 0;
}

}  // namespace

std::string exact_text(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

CsvFile::CsvFile(const std::string& path, const std::vector<std::string>& columns, int64_t size)
    : columns_(columns.size()), file_(path, whole_rows(path, header_of(columns), size)) {
  if (file_.size() == 0) {
    file_.append(header_of(columns));
  }
}

void CsvFile::add(const std::vector<std::optional<double>>& row) {
  require(row.size() == columns_, "CsvFile::add: row must have ", columns_, " cells, got ", row.size());
  std::string line;
  for (const auto& cell : row) {
    if (&cell != row.data()) {
      line += ',';
    }
    if (cell) {
      line += exact_text(*cell);
    }
  }
  line += '\n';
  file_.append(line);
}

int64_t CsvTable::column(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == name) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
}

CsvTable read_csv(const std::string& path, int64_t bytes) {
  std::string contents = read_if_there(path);
  if (bytes >= 0 && bytes < static_cast<int64_t>(contents.size())) {
    contents.resize(static_cast<size_t>(bytes));
  }
  require<DataError>(!contents.empty(), path, ": must be a CSV file with a header, got none");
  CsvTable table;
  int64_t line = 0;
  for (size_t begin = 0, end = 0; (end = contents.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const auto cells = csv_cells(std::string_view(contents).substr(begin, end - begin));
    if (++line == 1) {
      table.columns = cells;
      continue;
    }
    require<DataError>(cells.size() == table.columns.size(), path, ":", line, ": row must have ",
                       table.columns.size(), " cells, got ", cells.size());
    auto& row = table.rows.emplace_back();
    for (const auto& cell : cells) {
      double value = std::numeric_limits<double>::quiet_NaN();
      const auto [stop, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      require<DataError>(cell.empty() || (error == std::errc() && stop == cell.data() + cell.size()), path,
                         ":", line, ": cell must be a number, got ", quote(cell));
      row.push_back(value);
    }
  }
  return table;
}

Journal::Journal(const std::string& folder, const std::vector<std::string>& metrics, int64_t step,
                 int64_t metrics_bytes)
    : table_path_(folder + "/metrics.csv"),
      columns_(metric_columns(metrics)),
      seconds_before_(last_seconds(folder + "/timing.csv", step)),
      damages_(mend_journal(folder, columns_, step, metrics_bytes)),
      times_(folder + "/timing.csv", time_columns, bytes_up_to(folder + "/timing.csv", step)),
      events_(folder + events_name, step > 0 ? step : -1) {
  table_.emplace(table_path_, columns_, bytes_if_there(table_path_, metrics_bytes));
}

void Journal::add_columns(const std::vector<std::string>& missing) {
  table_->sync();
  columns_.insert(columns_.end(), missing.begin(), missing.end());
  rewrite(table_path_, columns_);
  table_.reset();
  table_.emplace(table_path_, columns_);
}

void Journal::record(const JournalRow& row) {
  std::map<std::string, double> numbers{{"step", static_cast<double>(row.step)},
                                        {"epoch", row.epoch},
                                        {"rate", row.rate},
                                        {"loss", row.loss},
                                        {"gradient_norm", row.gradient_norm}};
  std::vector<std::pair<std::string, double>> scalars{
      {"train/loss", row.loss}, {"train/rate", row.rate}, {"train/gradient_norm", row.gradient_norm}};
  std::vector<std::string> missing;
  for (const auto& [name, value] : row.valid) {
    numbers[column_of(name)] = value;
    scalars.emplace_back(visible("valid/" + name), value);
    if (!has(columns_, column_of(name))) {
      missing.push_back(column_of(name));
    }
  }
  if (!missing.empty()) {
    add_columns(missing);
  }
  std::vector<std::optional<double>> cells;
  for (const std::string& column : columns_) {
    const auto found = numbers.find(column);
    cells.push_back(found == numbers.end() ? std::nullopt : std::optional(found->second));
  }
  table_->add(cells);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  events_.add(row.step, scalars, now.count());
}

void Journal::record_times(int64_t step, double seconds, const StepTimes& t) {
  times_.add({static_cast<double>(step), seconds, static_cast<double>(t.steps), t.batch, t.forward,
              t.backward, t.optimiser, t.logging, t.validation, t.saving});
}

int64_t Journal::sync_metrics() {
  table_->sync();
  return table_->size();
}

}  // namespace weyl
