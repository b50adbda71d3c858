#include "weyl/app/verbs/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/progress.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/journal.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

// A small JSON file of the run, null when it is not there.
Json json_of(const std::string& file) {
  const std::string source = read_if_there(file);
  return source.empty() ? Json() : Json::parse(source, file);
}

const Json* at(const Json& json, std::initializer_list<const char*> keys) {
  const Json* value = &json;
  for (const char* key : keys) {
    value = value == nullptr ? nullptr : value->find(key);
  }
  return value;
}

// Both files have rows for the same steps, but for what was lost when the run was killed.
std::map<double, double> seconds_by_step(const std::string& file) {
  std::map<double, double> seconds;
  std::error_code error;
  if (fs::exists(file, error)) {
    const CsvTable table = read_csv(file);
    const int64_t step = table.column("step"), second = table.column("seconds");
    require<DataError>(step >= 0 && second >= 0, file, ": must have columns 'step' and 'seconds'");
    for (const auto& row : table.rows) {
      seconds[row[static_cast<size_t>(step)]] = row[static_cast<size_t>(second)];
    }
  }
  return seconds;
}

void read_curve(ComparedRun& run, std::optional<double> tokens_an_epoch, const ModelSummary& summary) {
  const std::string file = run.path + "/metrics.csv";
  const CsvTable table = read_csv(file);
  const int64_t step = table.column("step"), epoch = table.column("epoch");
  require<DataError>(step >= 0 && epoch >= 0, file, ": must have columns 'step' and 'epoch'");
  const std::map<double, double> seconds = seconds_by_step(run.path + "/timing.csv");
  for (const auto& row : table.rows) {
    ComparedRun::Point point{.step = row[static_cast<size_t>(step)]};
    if (const auto found = seconds.find(point.step); found != seconds.end()) {
      point.seconds = found->second;
    }
    if (tokens_an_epoch) {
      const double tokens = *tokens_an_epoch * row[static_cast<size_t>(epoch)];
      point.flops = summary.flops_train * tokens;
      run.nominal_flops = summary.flops_nominal * tokens;
    }
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const std::string& name = table.columns[c];
      if (name == "loss") {
        point.metrics["training loss"] = row[c];
      } else if (name.starts_with("valid_")) {
        point.metrics[name.substr(6)] = row[c];
      }
    }
    run.curve.push_back(std::move(point));
  }
  if (!run.curve.empty()) {
    run.flops = run.curve.back().flops;
    run.seconds = run.curve.back().seconds;
  }
}

// What the training counted itself, where that is of the step that the curve ends with.
void take_counted_flops(ComparedRun& run, const Json& result) {
  const Json *steps = result.find("steps"), *flops = result.find("flops"),
             *nominal = result.find("nominal_flops");
  if (steps == nullptr || flops == nullptr || nominal == nullptr || run.curve.empty() ||
      steps->number_or(0) != run.curve.back().step) {
    return;
  }
  run.nominal_flops = nominal->number_or(0);
  const double counted = flops->number_or(0), estimated = run.flops.value_or(0);
  run.flops = counted;
  for (ComparedRun::Point& point : run.curve) {
    if (point.flops && estimated > 0) {
      *point.flops *= counted / estimated;
    }
  }
}

void read_metrics(ComparedRun& run, const Json& metrics) {
  for (const auto& [name, metric] : metrics.members()) {
    const Json *value = metric.find("value"), *unit = metric.find("unit");
    run.metrics[name] = {value != nullptr ? value->number_or(std::nan("")) : std::nan(""),
                         unit != nullptr ? unit->string_or("") : ""};
  }
}

// What a run predicts where its metrics do not say it: the error of any one property is `mae`.
std::string targets_of(const ModelSummary& summary) {
  std::set<std::string> names;
  for (const Quantity& output : summary.interface.outputs) {
    names.insert(output.name);
  }
  std::string all;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : ", ") + printable(name);
  }
  return summary.task == "property" ? all : "";
}

struct Read {
  ComparedRun run;
  Json result, data;  // of result.json; what environment.json has of the data
  ModelSummary summary;
};

Read read_run(const std::string& path) {
  require<DataError>(is_run_folder(path), path, ": must be a run folder, which `weyl train` makes");
  Read read;
  ComparedRun& run = read.run;
  run.path = path;
  run.name = run_name(path);
  const std::string model = model_file(path);
  read.summary = read_summary(SafetensorsFile(model).header(), model);
  run.system = read.summary.system;
  run.parameters = read.summary.parameters;
  run.parameters_real = read.summary.parameters_real;
  run.headline = read.summary.metric;
  const Json environment = json_of(path + "/environment.json");
  if (const Json* data = environment.find("data")) {
    read.data = *data;
  }
  const Json* tokens = at(read.data, {"train", "tokens"});
  read_curve(run, tokens != nullptr ? std::optional(tokens->number_or(0)) : std::nullopt, read.summary);
  read.result = json_of(path + "/result.json");
  take_counted_flops(run, read.result);
  if (const Json* steps = read.result.find("steps");
      steps != nullptr && !run.curve.empty() && steps->number_or(0) < run.curve.back().step) {
    run.notes.push_back(text(run.name, ": its result is that of step ", steps->number_or(0),
                             ", it has been trained to step ", run.curve.back().step));
  }
  return read;
}

// The units in which runs tell their metrics: force fields may be told in meV by one and in kcal/mol by another.
class UnitsOfMetrics {
 public:
  explicit UnitsOfMetrics(const Comparison& comparison) : runs_(comparison.runs.size()) {
    for (const ComparedRun& run : comparison.runs) {
      for (const auto& [name, metric] : run.metrics) {
        units_[name].push_back(metric.second);
      }
    }
    for (const auto& [name, units] : units_) {
      all_same_ = all_same_ && alike(units);
    }
  }

  /// Whether curves of a metric may share an axis. Of one that is not among what is compared no run says the unit:
  /// then nothing that is may differ.
  bool same(const std::string& name) const {
    const auto found = units_.find(name);
    return all_same_ || (found != units_.end() && found->second.size() == runs_ && alike(found->second));
  }

 private:
  static bool alike(const std::vector<std::string>& units) {
    return std::ranges::count(units, units.front()) == std::ssize(units);
  }

  size_t runs_;
  std::map<std::string, std::vector<std::string>> units_;
  bool all_same_ = true;
};

}  // namespace

Comparison compared(const std::vector<std::string>& runs) {
  Comparison comparison;
  std::vector<Read> all;
  std::map<std::string, int> names;
  for (const std::string& path : runs) {
    all.push_back(read_run(path));
    ++names[all.back().run.name];
  }
  const auto tested = [](const Read& read) { return at(read.result, {"test", "metrics"}) != nullptr; };
  for (const Read& read : all) {
    if (!tested(read)) {
      comparison.split = "valid";
      comparison.notes.push_back(
          read.run.name +
          ": has no result on a test split (it is not at its end, or has none): validation "
          "metrics are compared");
    }
  }
  // Other features of the same samples are no other test data; runs of earlier versions say only all in one.
  const auto says = [&](const Read& read, const char* key) {
    return at(read.data, {comparison.split.c_str(), key}) != nullptr &&
           at(read.data, {comparison.split.c_str(), "samples"}) != nullptr;
  };
  const bool all_say =
      std::all_of(all.begin(), all.end(), [&](const Read& r) { return says(r, "places_and_labels"); });
  const char* key = all_say ? "places_and_labels" : "contents";
  std::set<std::string> data;
  std::map<std::string, std::string> targets;  // and the first run that has them
  for (Read& read : all) {
    ComparedRun& run = read.run;
    if (names[run.name] > 1) {
      run.name = run.path;
    }
    if (comparison.split == "test") {
      read_metrics(run, *at(read.result, {"test", "metrics"}));
    } else if (!read.summary.metric.empty()) {
      run.metrics[read.summary.metric] = {read.summary.value, read.summary.unit};
    }
    if (says(read, key)) {
      run.data = at(read.data, {comparison.split.c_str(), "samples"})->dump() +
                 at(read.data, {comparison.split.c_str(), key})->dump() + targets_of(read.summary);
    }
    targets.emplace(targets_of(read.summary), run.name);
    if (run.data.empty()) {
      comparison.notes.push_back(text(run.name, ": does not say what its ", comparison.split,
                                      " data were, so its metrics are not compared"));
    }
    data.insert(run.data);
    comparison.notes.insert(comparison.notes.end(), run.notes.begin(), run.notes.end());
    comparison.runs.push_back(std::move(run));
  }
  if (targets.size() > 1) {
    std::string which;
    for (const auto& [names, run] : targets) {
      which += (which.empty() ? "" : "; ") + run + (names.empty() ? ": no property" : ": " + names);
    }
    comparison.notes.push_back("the runs do not predict the same properties (" + which + ")");
  }
  comparison.same_test_data = data.size() == 1 && !data.begin()->empty();
  return comparison;
}

Panels learning_curves(const Comparison& comparison) {
  const auto all_have = [&](const std::string& metric) {
    return std::all_of(comparison.runs.begin(), comparison.runs.end(), [&](const ComparedRun& run) {
      return std::any_of(run.curve.begin(), run.curve.end(), [&](const auto& point) {
        const auto found = point.metrics.find(metric);
        return found != point.metrics.end() && std::isfinite(found->second);
      });
    });
  };
  const UnitsOfMetrics units(comparison);
  const auto drawable = [&](const std::string& name) { return all_have(name) && units.same(name); };
  std::string metric = comparison.runs.front().headline;
  if (metric.empty() || !drawable(metric)) {
    metric = "training loss";
    for (const auto& point : comparison.runs.front().curve) {
      for (const auto& [name, value] : point.metrics) {
        if (metric == "training loss" && name != metric && drawable(name)) {
          metric = name;
        }
      }
    }
  }
  const auto unit = comparison.runs.front().metrics.find(metric);
  const std::string label =
      metric + (unit != comparison.runs.front().metrics.end() && !unit->second.second.empty()
                    ? " / " + unit->second.second
                    : "");
  Panels panels{metric == "training loss" ? "Training loss" : "Validation " + metric, {}, true};
  using Place = std::optional<double> (*)(const ComparedRun::Point&);
  const std::pair<const char*, Place> places[] = {
      {"steps", [](const ComparedRun::Point& p) { return std::optional(p.step); }},
      {"seconds", [](const ComparedRun::Point& p) { return p.seconds; }},
      {"FLOPs", [](const ComparedRun::Point& p) { return p.flops; }}};
  for (const auto& [name, place] : places) {
    Figure figure{"", name, label, {}, true};
    for (const ComparedRun& run : comparison.runs) {
      Mark& line = figure.marks.emplace_back();
      line.title = run.name;
      for (const auto& point : run.curve) {
        const auto x = place(point);
        const auto y = point.metrics.find(metric);
        if (x && y != point.metrics.end() && std::isfinite(y->second)) {
          line.x.push_back(*x);
          line.y.push_back(y->second);
        }
      }
    }
    panels.figures.push_back(std::move(figure));
  }
  return panels;
}

namespace {

Json comparison_json(const Comparison& comparison) {
  Json runs = Json::array();
  const auto or_null = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  for (const ComparedRun& run : comparison.runs) {
    Json metrics = Json::object();
    for (const auto& [name, metric] : run.metrics) {
      metrics.set(name, Json::object().set("value", metric.first).set("unit", metric.second));
    }
    runs.add(Json::object()
                 .set("name", run.name)
                 .set("run", run.path)
                 .set("system", run.system)
                 .set("parameters", run.parameters)
                 .set("parameters_real", run.parameters_real)
                 .set("seconds", or_null(run.seconds))
                 .set("flops", or_null(run.flops))
                 .set("nominal_flops", or_null(run.nominal_flops))
                 .set("metrics", metrics));
  }
  Json notes = Json::array();
  for (const std::string& note : comparison.notes) {
    notes.add(note);
  }
  return Json::object()
      .set("runs", runs)
      .set("split", comparison.split)
      .set("same_test_data", comparison.same_test_data)
      .set("notes", notes);
}

std::string table_number(double value, const char* format) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// A row for each metric and a column for each run: many metrics, few runs.
void print_comparison(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows{{""},     {"system"}, {"parameters (real)"},
                                             {"time"}, {"FLOPs"},  {"FLOPs (nominal)"}};
  std::vector<std::string> metrics;
  for (const ComparedRun& run : comparison.runs) {
    for (const auto& [name, metric] : run.metrics) {
      const std::string label = name + (metric.second.empty() ? "" : " / " + metric.second);
      if (std::find(metrics.begin(), metrics.end(), label) == metrics.end()) {
        metrics.push_back(label);
        rows.push_back({comparison.split + " " + label});
      }
    }
  }
  for (const ComparedRun& run : comparison.runs) {
    rows[0].push_back(run.name);
    rows[1].push_back(run.system);
    rows[2].push_back(std::to_string(run.parameters_real));
    rows[3].push_back(run.seconds ? clock_text(*run.seconds) : "-");
    rows[4].push_back(run.flops ? table_number(*run.flops, "%.3g") : "-");
    rows[5].push_back(run.nominal_flops ? table_number(*run.nominal_flops, "%.3g") : "-");
    for (size_t i = 0; i < metrics.size(); ++i) {
      std::string value = "-";
      for (const auto& [name, metric] : run.metrics) {
        if (name + (metric.second.empty() ? "" : " / " + metric.second) == metrics[i]) {
          value = table_number(metric.first, "%.5g");
        }
      }
      rows[6 + i].push_back(value);
    }
  }
  if (!comparison.same_test_data) {
    rows.resize(6);
  }
  std::cout << aligned(rows);
}

}  // namespace

int run(const CompareCommand& command) {
  const Comparison comparison = compared(command.runs);
  Json json = comparison_json(comparison);
  for (const std::string& note : comparison.notes) {
    warn(note);
  }
  if (!comparison.same_test_data) {
    warn("the runs' " + comparison.split + " data are not the same, so their metrics are not compared");
  } else if (!command.out.empty()) {
    make_folder(command.out);
    const std::string picture = command.out + "/learning_curves";
    draw(learning_curves(comparison), picture);
    json.set("files", Json::array().add(picture + ".png").add(picture + ".svg"));
  }
  if (command.output.json) {
    std::cout << json.dump() << "\n";
  } else {
    print_comparison(comparison);
    if (const Json* files = json.find("files")) {
      for (const Json& file : files->items()) {
        std::cout << file.string_or("") << "\n";
      }
    }
  }
  return comparison.same_test_data ? exit_done : exit_failed;
}

}  // namespace weyl
