#include "weyl/app/pictures.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

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

// What picked the best model; nothing without one.
struct BestBy {
  std::string metric, unit;
};
std::optional<BestBy> best_by(const std::string& run) {
  const std::string best = run + "/best/model.safetensors";
  if (!std::filesystem::exists(best)) {
    return {};
  }
  const ModelSummary s = read_summary(SafetensorsFile(best).header(), best);
  return BestBy{s.metric, s.unit};
}

constexpr int64_t most_curves = 7;  // loss and six metrics

Figure learning_curve(const CsvTable& table, const std::string& run, const std::string& where) {
  Figure figure;
  figure.title = "Learning curve";
  figure.x_label = "step";
  // The key names the other curves.
  const auto best = best_by(run);
  figure.y_label = best ? text("loss, ", best->metric, " (", best->unit.empty() ? "no unit" : best->unit, ")")
                        : "loss, metrics";
  figure.log_y = true;
  const int64_t step = table.column("step");
  require<DataError>(step >= 0, where, ": must have a column 'step'");
  const auto drawn = [](const std::string& name) { return name == "loss" || name.starts_with("valid_"); };
  const bool few = std::count_if(table.columns.begin(), table.columns.end(), drawn) <= most_curves;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& name = table.columns[c];
    const bool chief =
        name == "loss" || name == "valid_cross_entropy" || !best || name == "valid_" + best->metric;
    if (!drawn(name) || !(few || chief)) {
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

ConfusionFigure confusion(const CsvTable& table) {
  ConfusionFigure figure{"Confusion on the test split", table.columns, {}};
  for (const auto& row : table.rows) {
    figure.counts.insert(figure.counts.end(), row.begin(), row.end());
  }
  return figure;
}

std::vector<uint8_t> bytes_of(const SafetensorsFile& file, const std::string& name,
                              const std::vector<int64_t>& shape) {
  require<DataError>(file.entry(name).shape == shape && file.entry(name).type == ElementType::u8, file.path(),
                     ": ", name, ": must be the pixels of the image, u8");
  const auto bytes = file.bytes(name);
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

OverlayFigure overlay(const std::string& path) {
  const SafetensorsFile file(path);
  const auto& shape = file.entry("image").shape;
  require<DataError>(shape.size() == 3 && shape[2] == 3, path, ": image: must be (H, W, 3)");
  OverlayFigure figure;
  figure.height = shape[0];
  figure.width = shape[1];
  figure.image = bytes_of(file, "image", shape);
  figure.truth = bytes_of(file, "truth", {shape[0], shape[1]});
  figure.prediction = bytes_of(file, "prediction", {shape[0], shape[1]});
  const auto& metadata = file.header().metadata;
  if (const auto title = metadata.find("title"); title != metadata.end()) {
    figure.title = title->second;
  }
  if (const auto classes = metadata.find("classes"); classes != metadata.end()) {
    std::istringstream lines(classes->second);
    for (std::string line; std::getline(lines, line);) {
      figure.classes.push_back(line);
    }
  }
  return figure;
}

std::vector<std::string> files_named(const std::string& folder, const std::string& prefix,
                                     const std::string& ending) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(ending)) {
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

  for (const std::string& csv : files_named(run + "/plots", "parity", ".csv")) {
    if (const CsvTable pairs = read_csv(csv); !pairs.rows.empty()) {
      const std::string picture = out + "/" + std::filesystem::path(csv).stem().string();
      draw(parity(pairs, csv), picture);
      keep(files, picture);
    }
  }
  if (const std::string csv = run + "/plots/confusion.csv"; std::filesystem::exists(csv)) {
    draw(confusion(read_csv(csv)), out + "/confusion");
    keep(files, out + "/confusion");
  }
  for (const std::string& path : files_named(run + "/plots", "overlay_", ".safetensors")) {
    const std::string picture = out + "/" + std::filesystem::path(path).stem().string();
    draw(overlay(path), picture);
    files.push_back(picture + ".png");
  }
  return files;
}

}  // namespace weyl
