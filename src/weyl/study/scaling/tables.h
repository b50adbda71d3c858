#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/study/scaling/law.h"

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

/// One training: its size, what it has seen, what it came to.
struct ScalingRun {
  std::string system;
  double parameters = 0;                // stored real numbers
  double tokens = 0;                    // of training, repeated ones each time
  double loss = 0;                      // of test, in any unit
  std::optional<double> flops;          // nominal, of the whole training
  std::optional<double> unique_tokens;  // of the training data
  std::optional<double> budget;         // what it was allowed: runs of equal budgets are compared
  int64_t line = 0;
};

/// Passes within this factor are equal: what is beyond is the rounding of a last batch.
constexpr double same_epochs = 1.001;

/// How often a run saw its data: tokens / unique tokens, 1 where that is not known or less.
double epochs_of(const ScalingRun& run);
bool saw_more_than(const ScalingRun& run, double epochs);

/// The runs of a CSV file, in its order, and the lines that are none.
struct RunTable {
  std::string file;
  std::vector<ScalingRun> runs;
  std::vector<RefusedLine> refused;

  /// Names of systems in the order of their first runs.
  std::vector<std::string> systems() const;
  std::vector<ScalingRun> of(std::string_view system) const;
};

/// Reads columns system, parameters, tokens, loss and, where they are, flops, unique_tokens, budget; others may be
/// there. A row with a cell that is missing (of the first four), no number, not finite or not positive is refused, and
/// the rest taken. DataError as CsvLines, and for a file of more than 64 MiB or with a thousand systems.
RunTable read_runs(const std::string& path);
RunTable parse_runs(std::string_view text, std::string_view where);

/// A law that is given: of a paper, or of an earlier fit.
struct GivenLaw {
  std::string system;
  ScalingLaw law;
  std::optional<double> xi;
};

/// A CSV file with columns system, A, alpha, B, beta and, where they are, E (0) and xi (not known), one row a system.
/// DataError for the first row that is none, naming its line: a law is given whole or not at all.
std::vector<GivenLaw> read_coefficients(const std::string& path);
std::vector<GivenLaw> parse_coefficients(std::string_view text, std::string_view where);

}  // namespace weyl
