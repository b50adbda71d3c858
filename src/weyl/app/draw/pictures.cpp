#include "weyl/app/draw/pictures.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "weyl/app/draw/film.h"
#include "weyl/app/draw/plot.h"
#include "weyl/app/terminal/shown_metrics.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/text_number.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/loop/metric_terms.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/journal.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

void keep(std::vector<std::string>& files, const std::string& path) {
  files.push_back(path + ".png");
  files.push_back(path + ".svg");
}

// What picked the best model; nothing without one.
struct BestBy {
  std::string metric, unit;
  double value = 0;
};
std::optional<BestBy> best_by(const std::string& run) {
  const std::string best = run + "/best/model.safetensors";
  if (!std::filesystem::exists(best)) {
    return {};
  }
  const ModelSummary s = read_summary(SafetensorsFile(best).header(), best);
  return BestBy{s.metric, s.unit, s.value};
}

// The metrics that it is made of, which may be a sum of some (train.best).
std::vector<std::string> terms_of(const BestBy& best, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  try {
    for (const MetricTerm& term : metric_terms(best.metric, known)) {
      names.push_back(term.name);
    }
  } catch (const ConfigError&) {  // a table of another run
    names = {best.metric};
  }
  return names;
}

// A line through the steps at which there is a value.
Mark column_of(const CsvTable& table, size_t column, size_t step) {
  Mark line;
  for (const auto& row : table.rows) {
    if (std::isfinite(row[column])) {
      line.x.push_back(row[step]);
      line.y.push_back(row[column]);
    }
  }
  return line;
}

// Units of the metrics, as the training has written them down at its end (`units` of result.json), and that of the metric
// that picked the best model.
std::map<std::string, std::string> units_of_metrics(const std::string& run,
                                                    const std::optional<BestBy>& best) {
  std::map<std::string, std::string> units;
  const Json result = json_if_there(run + "/result.json");
  if (const Json* all = result.find("units")) {
    for (const auto& [name, unit] : all->members()) {
      units[name] = unit.string_or("");
    }
  }
  if (best) {
    units[best->metric] = best->unit;
  }
  return units;
}

// The training loss, and each metric on axes of its own: their units differ.
Panels learning_curve(const CsvTable& table, const std::string& run, const std::string& where) {
  const int64_t step = table.column("step"), loss = table.column("loss");
  require<DataError>(step >= 0 && loss >= 0, where, ": must have columns 'step' and 'loss'");
  const auto best = best_by(run);
  const std::map<std::string, std::string> units = units_of_metrics(run, best);
  std::vector<std::string> metrics;
  for (const std::string& name : table.columns) {
    if (name.starts_with("valid_")) {
      metrics.push_back(name.substr(6));
    }
  }
  Panels panels;
  panels.title = "Learning curve of " + run_name(run);
  Figure training{"training loss", "step", "loss, as the task weighs and scales it", {}, true};
  training.marks.push_back(column_of(table, static_cast<size_t>(loss), static_cast<size_t>(step)));
  panels.figures.push_back(std::move(training));
  for (const std::string& metric :
       shown_metrics(metrics, best ? terms_of(*best, metrics) : std::vector<std::string>{})) {
    Figure figure{"validation " + metric, "step", metric, {}, !is_share(metric)};
    const auto unit = units.find(metric);
    if (unit != units.end()) {
      figure.y_label += " / " + (unit->second.empty() ? "no unit" : unit->second);
    }
    if (best && metric == best->metric) {
      figure.title += ", best " + short_number(best->value) + (best->unit.empty() ? "" : " " + best->unit);
    }
    figure.marks.push_back(
        column_of(table, static_cast<size_t>(table.column("valid_" + metric)), static_cast<size_t>(step)));
    panels.figures.push_back(std::move(figure));
  }
  return panels;
}

// What all pairs come to, drawn or not: of PATH.csv PATH.json has it. A run of an earlier version has none, whose picture
// then says how many are drawn alone.
void tell_merits(Figure& figure, const std::string& csv, size_t drawn) {
  const Json json = json_if_there(csv.substr(0, csv.size() - 3) + "json");
  if (!json.is_object()) {
    figure.subtitle = text("drawn: ", drawn, " values");
    return;
  }
  const auto number_of = [](const Json& of, const char* key) {
    const Json* found = of.find(key);
    return found != nullptr ? found->number_or(NAN) : NAN;
  };
  const auto count_of = [&](const char* key) {
    const double count = number_of(json, key);
    return count >= 0 && count < 1e15 ? static_cast<int64_t>(count) : 0;
  };
  if (const Json* mae = json.find("mae"); mae != nullptr && mae->is_object()) {
    const Json* unit = mae->find("unit");
    const std::string words = unit != nullptr ? unit->string_or("") : "";
    const double r2 = number_of(json, "r2");
    figure.title += ": MAE " + short_number(number_of(*mae, "value")) + (words.empty() ? "" : " " + words) +
                    (std::isfinite(r2) ? ", R² " + short_number(r2) : "") + " over " +
                    std::to_string(count_of("pairs")) + " values";
  }
  const Json* note = json.find("note");
  figure.subtitle = note != nullptr ? note->string_or("") : "";
  figure.subtitle += figure.subtitle.empty() ? "" : "; ";
  const int64_t all = count_of("of");
  figure.subtitle += static_cast<int64_t>(drawn) < all
                         ? text("drawn: ", drawn, " of ", all, ", at random (seed ", count_of("seed"), ")")
                         : "drawn: all";
}

// The two columns say what they are, with units.
Figure parity(const CsvTable& table, const std::string& run, const std::string& where) {
  require<DataError>(table.columns.size() == 2, where, ": must have two columns, label and prediction, got ",
                     table.columns.size());
  Figure figure;
  figure.x_label = table.columns[0];
  figure.y_label = table.columns[1];
  figure.diagonal = true;
  Mark& dots = figure.marks.emplace_back();
  dots.kind = Mark::Kind::points;
  dots.size = 0.25;
  for (const auto& row : table.rows) {
    dots.x.push_back(row[0]);
    dots.y.push_back(row[1]);
  }
  figure.title = "Test split, " + run_name(run);
  tell_merits(figure, where, table.rows.size());
  return figure;
}

ConfusionFigure confusion(const CsvTable& table, const std::string& run) {
  ConfusionFigure figure{"", table.columns, {}};
  double right = 0, all = 0;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    figure.counts.insert(figure.counts.end(), table.rows[i].begin(), table.rows[i].end());
    for (size_t j = 0; j < table.rows[i].size(); ++j) {
      all += table.rows[i][j];
      right += i == j ? table.rows[i][j] : 0;
    }
  }
  figure.title = "Test split, " + run_name(run) + (all > 0 ? ": accuracy " + short_number(right / all) : "");
  return figure;
}

std::vector<uint8_t> image_bytes(const SafetensorsFile& file, const std::string& name,
                                 const std::vector<int64_t>& shape) {
  require<DataError>(file.entry(name).shape == shape && file.entry(name).type == ElementType::u8, file.path(),
                     ": ", name, ": must be the pixels of the image, u8");
  const auto bytes = file.bytes(name);
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

OverlayFigure overlay(const std::string& path, const std::string& name) {
  const SafetensorsFile file(path);
  const auto& shape = file.entry("image").shape;
  require<DataError>(shape.size() == 3 && shape[2] == 3, path, ": image: must be (H, W, 3)");
  OverlayFigure figure;
  figure.height = shape[0];
  figure.width = shape[1];
  figure.image = image_bytes(file, "image", shape);
  figure.truth = image_bytes(file, "truth", {shape[0], shape[1]});
  figure.prediction = image_bytes(file, "prediction", {shape[0], shape[1]});
  const auto& metadata = file.header().metadata;
  if (const auto title = metadata.find("title"); title != metadata.end()) {
    figure.title = title->second + ", " + name;
  }
  if (const auto predicted = metadata.find("predicted"); predicted != metadata.end()) {
    figure.predicted = predicted->second;
  }
  if (const auto classes = metadata.find("classes"); classes != metadata.end()) {
    std::istringstream lines(classes->second);
    for (std::string line; std::getline(lines, line);) {
      figure.classes.push_back(line);
    }
  }
  return figure;
}

PicturesFigure pictures(const std::string& path, const std::string& run) {
  const SafetensorsFile file(path);
  const auto& shape = file.entry("pictures").shape;
  require<DataError>(shape.size() == 4 && shape[3] == 3, path, ": pictures: must be (K, H, W, 3)");
  const auto& metadata = file.header().metadata;
  const auto of = [&](const char* key) {
    const auto found = metadata.find(key);
    return found != metadata.end() ? found->second : std::string();
  };
  PicturesFigure figure;
  figure.height = shape[1];
  figure.width = shape[2];
  figure.title = of("title") + ", " + run_name(run);
  const std::vector<uint8_t> all = image_bytes(file, "pictures", shape);
  const auto columns = parse_integer(of("columns"));
  require<DataError>(columns && *columns > 0, path, ": columns: must be a whole number above zero, got ",
                     quote(of("columns")));
  figure.columns = *columns;
  const auto size = 3 * shape[1] * shape[2];
  std::istringstream lines(of("words"));
  for (int64_t k = 0; k < shape[0]; ++k) {
    std::string line;
    std::getline(lines, line);
    figure.pictures.push_back({{all.begin() + k * size, all.begin() + (k + 1) * size}, line});
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

void draw_films(const std::vector<std::string>& films, const std::string& run, const std::string& out,
                std::vector<std::string>& files) {
  for (const std::string& path : films) {
    Film film = read_film(path);
    film.title = film.title + ", " + run_name(run);
    const std::string picture = out + "/" + std::filesystem::path(path).stem().string();
    draw(film, picture);
    keep(files, picture);
  }
}

}  // namespace

void draw_overlay(const std::string& path, const std::string& name, const std::string& picture) {
  draw(overlay(path, name), picture);
}

std::vector<std::string> draw_run(const std::string& run, const std::string& out, const std::string& rollouts,
                                  const std::string& attention) {
  const std::string metrics = run + "/metrics.csv";
  const CsvTable table = read_csv(metrics);
  require<DataError>(!table.rows.empty(), metrics, ": must have rows to plot, but has none");
  make_folder(out);
  std::vector<std::string> files;
  draw(learning_curve(table, run, metrics), out + "/learning_curve");
  keep(files, out + "/learning_curve");

  for (const std::string& csv : files_named(run + "/plots", "parity", ".csv")) {
    if (const CsvTable pairs = read_csv(csv); !pairs.rows.empty()) {
      const std::string picture = out + "/" + std::filesystem::path(csv).stem().string();
      draw(parity(pairs, run, csv), picture);
      keep(files, picture);
    }
  }
  if (const std::string csv = run + "/plots/confusion.csv"; std::filesystem::exists(csv)) {
    draw(confusion(read_csv(csv), run), out + "/confusion");
    keep(files, out + "/confusion");
  }
  for (const std::string& path : files_named(run + "/plots", "overlay_", ".safetensors")) {
    const std::string picture = out + "/" + std::filesystem::path(path).stem().string();
    draw(overlay(path, run_name(run)), picture);
    files.push_back(picture + ".png");
  }
  for (const std::string& path :
       files_named(attention.empty() ? run + "/plots" : attention, "attention_", ".safetensors")) {
    const std::string picture = out + "/" + std::filesystem::path(path).stem().string();
    draw(pictures(path, run), picture);
    files.push_back(picture + ".png");
  }
  draw_films(files_named(run + "/plots", "film_", ".safetensors"), run, out, files);
  draw_films(files_named(rollouts.empty() ? run + "/plots" : rollouts, "rollout_", ".safetensors"), run, out,
             files);
  return files;
}

}  // namespace weyl
