#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/study/scaling/csv_lines.h"

namespace weyl {

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

}  // namespace weyl
