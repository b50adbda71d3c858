#include "weyl/app/pictures.h"

#include <algorithm>
#include <filesystem>

#include "weyl/app/gnuplot.h"
#include "weyl/core/check.h"
#include "weyl/core/safetensors.h"
#include "weyl/train/journal.h"
#include "weyl/train/model_summary.h"

namespace weyl {
namespace {

void keep(std::vector<std::string>& files, const std::string& path) {
  files.push_back(path + ".png");
  files.push_back(path + ".svg");
}

// The metric that picks the best model, with its unit; the key names the other curves.
std::string loss_and_metric(const std::string& run) {
  const std::string best = run + "/best/model.safetensors";
  if (!std::filesystem::exists(best)) {
    return "loss, metrics";
  }
  const ModelSummary s = read_summary(SafetensorsFile(best).header(), best);
  return text("loss, ", s.metric, " (", s.unit.empty() ? "no unit" : s.unit, ")");
}

Figure learning_curve(const CsvTable& table, const std::string& run, const std::string& where) {
  Figure figure;
  figure.title = "Learning curve";
  figure.x_label = "step";
  figure.y_label = loss_and_metric(run);
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

// The two columns say what they are, with units.
Figure parity(const CsvTable& table, const std::string& where) {
  require<DataError>(table.columns.size() == 2, where, ": must have two columns, label and prediction, got ",
                     table.columns.size());
  Figure figure;
  figure.title = "Parity on the test split";
  figure.x_label = table.columns[0];
  figure.y_label = table.columns[1];
  figure.diagonal = true;
  figure.series.push_back({"", {}, {}, true});
  for (const auto& row : table.rows) {
    figure.series[0].x.push_back(row[0]);
    figure.series[0].y.push_back(row[1]);
  }
  return figure;
}

std::vector<std::string> parity_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("parity") && name.ends_with(".csv")) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
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
  draw(learning_curve(table, run, metrics), out + "/learning_curve");
  keep(files, out + "/learning_curve");

  for (const std::string& csv : parity_files(run + "/plots")) {
    if (const CsvTable pairs = read_csv(csv); !pairs.rows.empty()) {
      const std::string picture = out + "/" + std::filesystem::path(csv).stem().string();
      draw(parity(pairs, csv), picture);
      keep(files, picture);
    }
  }
  return files;
}

}  // namespace weyl
