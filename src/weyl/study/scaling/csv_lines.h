#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace weyl {

/// A line of a CSV file that could not be taken, and why.
struct RefusedLine {
  int64_t line = 0;  // from 1, the header's
  std::string reason;
};

/// Cells of a row by the place of their column.
using CsvRow = std::vector<std::string>;

/// Goes through the rows of a CSV text: a header, then `row(line, cells)` for each line with as many cells; blank lines
/// and those that begin with # are passed over. Cells are without the blanks around them. Lines with another number of
/// cells are refused, beyond `most_refused` the rest in one. DataError naming `where`: no header, a needed column that
/// is missing, one that is there twice, a line of more than 65536 characters, more than 20,000 lines.
class CsvLines {
 public:
  CsvLines(std::string_view text, std::string_view where, const std::vector<std::string>& needed);

  /// The place of a column, -1 when there is none.
  int64_t column(std::string_view name) const;
  void each(const std::function<void(int64_t line, const CsvRow& cells)>& row);
  void refuse(int64_t line, std::string reason);
  const std::vector<RefusedLine>& refused() const { return refused_; }

 private:
  bool next(std::string_view& line);

  std::string where_;
  std::string_view rest_;
  int64_t line_ = 0;
  std::vector<std::string> columns_;
  std::vector<RefusedLine> refused_;
};

/// The number of a cell: positive and finite, and "" or why it is not ("loss must be positive, got '-1'").
struct CsvNumber {
  double value = 0;
  std::string fault;
};
CsvNumber positive_number(std::string_view column, const std::string& cell);

}  // namespace weyl
