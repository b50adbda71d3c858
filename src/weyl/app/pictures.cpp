#include "weyl/app/pictures.h"

#include <filesystem>
#include <map>

#include "weyl/app/gnuplot.h"
#include "weyl/core/check.h"
#include "weyl/train/journal.h"

namespace weyl {
namespace {

void keep(std::vector<std::string>& files, const std::string& path) {
  files.push_back(path + ".png");
  files.push_back(path + ".svg");
}

Figure learning_curve(const CsvTable& table, const std::string& where) {
  Figure figure;
  figure.title = "Learning curve";
  figure.x_label = "step";
  figure.y_label = "loss, metrics";
  figure.log_y = true;
  const int64_t step = table.column("step");
  require<DataError>(step >= 0, where, ": must have a column 'step'");
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& name = table.columns[c];
    if (name != "loss" && !name.starts_with("valid_")) {
      continue;
    }
    Series series;
    series.title = name == "loss" ? "train loss" : "validation " + name.substr(6);
    for (const auto& row : table.rows) {
      series.x.push_back(row[static_cast<size_t>(step)]);
      series.y.push_back(row[c]);
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

}  // namespace

std::vector<std::string> draw_run(const std::string& run, const std::string& out) {
  const std::string metrics = run + "/metrics.csv";
  const CsvTable table = read_csv(metrics);
  require<DataError>(!table.rows.empty(), metrics, ": must have rows to plot, but has none");
  std::error_code error;
  std::filesystem::create_directories(out, error);
  require<DataError>(!error, out, ": must be a folder that can be written, but ", error.message());
  std::vector<std::string> files;
  draw(learning_curve(table, metrics), out + "/learning_curve");
  keep(files, out + "/learning_curve");

  const std::string pairs = run + "/plots/parity.csv";
  if (std::filesystem::exists(pairs)) {
    const CsvTable values = read_csv(pairs);
    const int64_t label = values.column("label"), prediction = values.column("prediction");
    require<DataError>(label >= 0 && prediction >= 0, pairs, ": must have the columns label and prediction");
    Figure figure;
    figure.title = "Parity on the test split";
    figure.x_label = "label";
    figure.y_label = "prediction";
    figure.diagonal = true;
    figure.series.push_back({"", {}, {}, true});
    for (const auto& row : values.rows) {
      figure.series[0].x.push_back(row[static_cast<size_t>(label)]);
      figure.series[0].y.push_back(row[static_cast<size_t>(prediction)]);
    }
    if (!values.rows.empty()) {
      draw(figure, out + "/parity");
      keep(files, out + "/parity");
    }
  }
  return files;
}

}  // namespace weyl
