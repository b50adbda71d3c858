#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weyl/train/run/append_file.h"
#include "weyl/train/run/step_times.h"
#include "weyl/train/run/tensorboard.h"

namespace weyl {

/// A table in a CSV file: a header line (csv_cell), then rows of numbers that read back to the same doubles. It depends
/// on no clock and no locale: the same numbers give the same bytes.
class CsvFile {
 public:
  /// Begins a file with these columns, or continues one that has them (else DataError). The file is cut to `size` bytes
  /// unless `size` is negative, and back to its last whole row where it does not end in a newline.
  CsvFile(const std::string& path, const std::vector<std::string>& columns, int64_t size = -1);
  void add(const std::vector<std::optional<double>>& row);  // one number a column, or an empty cell
  void sync() { file_.sync(); }
  int64_t size() const { return file_.size(); }

 private:
  size_t columns_;
  AppendFile file_;
};

/// The numbers of a CSV file (of its first `bytes`, unless negative), row by row; NaN for an empty cell. DataError:
/// file, line, what was found.
struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  int64_t column(std::string_view name) const;  // -1 when there is none
};
CsvTable read_csv(const std::string& path, int64_t bytes = -1);

/// The shortest text that reads back to the same double ("0.1", "nan").
std::string exact_text(double value);

/// One row of a run's log.
struct JournalRow {
  int64_t step = 0;
  double epoch = 0;
  double rate = 0;                      // of this step
  double loss = 0;                      // mean over the steps since the row before
  double gradient_norm = 0;             // likewise, before clipping
  std::map<std::string, double> valid;  // its metrics, when there was a validation
};

/// The log of a run: metrics.csv (without a clock: step, epoch, rate, loss, gradient_norm, valid_<metric> ...),
/// timing.csv (seconds, and where they went) and TensorBoard events of both.
///
/// metrics.csv has a column for each of `metrics`, whether or not a row has its number. A file without some of these
/// columns (of an older version, or of other data) is written anew with them. So is the file when a row has a metric
/// that is not among its columns: nothing that was measured is left out.
class Journal {
 public:
  /// Begins (`step` 0) or continues a run's journal. metrics.csv is cut to `metrics_bytes`, or to `step` where that is
  /// not the end of a row; the other files are cut to `step`. A damaged file is set aside (set_aside) and a new one
  /// begins, because no training depends on it. UnreadableError: the system does not open or read a file, which stays
  /// as it is.
  Journal(const std::string& folder, const std::vector<std::string>& metrics, int64_t step = 0,
          int64_t metrics_bytes = 0);

  void record(const JournalRow& row);
  void record_times(int64_t step, double seconds, const StepTimes& times);

  /// Syncs metrics.csv to the disk and returns its length, which a checkpoint of this moment remembers.
  int64_t sync_metrics();

  /// The columns of metrics.csv.
  const std::vector<std::string>& columns() const { return columns_; }

  /// Seconds of training up to the last row of timing.csv, 0 without one.
  double seconds_before() const { return seconds_before_; }

  /// A line for each file that was damaged: what was wrong, and where it is now.
  const std::vector<std::string>& damages() const { return damages_; }

 private:
  void add_columns(const std::vector<std::string>& missing);

  std::string table_path_;
  std::vector<std::string> columns_;  // of metrics.csv, as its header shows them
  double seconds_before_ = 0;
  std::vector<std::string> damages_;
  std::optional<CsvFile> table_;
  CsvFile times_;
  EventFile events_;
};

}  // namespace weyl
