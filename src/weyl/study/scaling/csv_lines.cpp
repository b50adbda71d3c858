#include "weyl/study/scaling/csv_lines.h"

#include <algorithm>
#include <cmath>

#include "weyl/core/check.h"
#include "weyl/core/joined.h"
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

}  // namespace weyl
