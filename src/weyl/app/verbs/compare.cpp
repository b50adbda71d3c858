#include "weyl/app/verbs/compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <numeric>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "weyl/app/draw/html.h"
#include "weyl/app/terminal/exit_codes.h"
#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/shown_metrics.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/app/verbs/verbs.h"
#include "weyl/core/atomic_file.h"
#include "weyl/core/check.h"
#include "weyl/core/input_file.h"
#include "weyl/core/json.h"
#include "weyl/core/own_folder.h"
#include "weyl/core/quote.h"
#include "weyl/core/safetensors.h"
#include "weyl/core/text_number.h"
#include "weyl/saved/model_summary.h"
#include "weyl/train/run/append_file.h"
#include "weyl/train/run/journal.h"
#include "weyl/train/run/run_folder.h"

namespace weyl {
namespace {

namespace fs = std::filesystem;

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

// The resolved config without its line train.seed, and that seed.
void read_config(ComparedRun& run, const std::string& recipe) {
  std::istringstream lines(recipe);
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[")) {
      table = line;
    }
    if (table == "[train]" && line.starts_with("seed = ")) {
      run.seed = parse_integer(std::string_view(line).substr(7)).value_or(0);
    } else {
      run.config += line + "\n";
    }
  }
}

// "et-seed*" of et-seed0 and et-seed1; of names that share less than two bytes all of them. No character is cut apart.
std::string shared_name(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  if (names.size() == 1) {
    return first;
  }
  const auto within = [&](size_t at) { return at < first.size() && (first[at] & 0xc0) == 0x80; };
  size_t before = first.size(), behind = first.size();
  for (const std::string& name : names) {
    before = std::min<size_t>(before, std::ranges::mismatch(first, name).in1 - first.begin());
    behind = std::min<size_t>(
        behind,
        std::ranges::mismatch(first | std::views::reverse, name | std::views::reverse).in1 - first.rbegin());
  }
  while (before > 0 && within(before)) {
    --before;
  }
  for (const std::string& name : names) {
    behind = std::min(behind, name.size() - before);
  }
  while (behind > 0 && within(first.size() - behind)) {
    --behind;
  }
  return before + behind < 2 ? joined(names)
                             : first.substr(0, before) + "*" + first.substr(first.size() - behind);
}

// Two runs of one seed are one training twice, which says nothing of a spread.
std::vector<SeedGroup> seed_groups(const std::vector<ComparedRun>& runs) {
  std::vector<SeedGroup> groups;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto takes = [&](const SeedGroup& group) {
      const ComparedRun& first = runs[group.runs.front()];
      return first.config == runs[i].config && first.trained_on == runs[i].trained_on &&
             std::ranges::none_of(group.runs, [&](size_t other) { return runs[other].seed == runs[i].seed; });
    };
    const auto found = std::ranges::find_if(groups, takes);
    (found == groups.end() ? groups.emplace_back() : *found).runs.push_back(i);
  }
  for (SeedGroup& group : groups) {
    std::vector<std::string> names;
    for (const size_t i : group.runs) {
      names.push_back(runs[i].name);
    }
    group.name = shared_name(names);
  }
  return groups;
}

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
  read_config(run, read.summary.recipe);
  const Json environment = json_if_there(path + "/environment.json");
  if (const Json* data = environment.find("data")) {
    read.data = *data;
  }
  const Json* contents = at(read.data, {"train", "contents"});
  run.trained_on = contents != nullptr ? contents->string_or("") : "";
  const Json* tokens = at(read.data, {"train", "tokens"});
  read_curve(run, tokens != nullptr ? std::optional(tokens->number_or(0)) : std::nullopt, read.summary);
  read.result = json_if_there(path + "/result.json");
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
  comparison.rows = seed_groups(comparison.runs);
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
    Figure figure{"", name, label, {}, !is_share(metric)};
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

/// Numbers of the runs of a row that have them.
struct OverSeeds {
  std::vector<double> values;

  double mean() const {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  }
  /// The standard deviation of one run about the mean, from two runs on.
  std::optional<double> spread() const {
    if (values.size() < 2) {
      return {};
    }
    double squares = 0;
    for (const double value : values) {
      squares += (value - mean()) * (value - mean());
    }
    return std::sqrt(squares / static_cast<double>(values.size() - 1));
  }
};

template <class Of>
OverSeeds over_seeds(const Comparison& comparison, const SeedGroup& row, const Of& of) {
  OverSeeds all;
  for (const size_t i : row.runs) {
    if (const std::optional<double> value = of(comparison.runs[i])) {
      all.values.push_back(*value);
    }
  }
  return all;
}

/// A metric as one unit has it: a run may tell it in another.
struct MetricInUnit {
  std::string name, unit;

  std::string label() const { return name + (unit.empty() ? "" : " / " + unit); }
  std::optional<double> of(const ComparedRun& run) const {
    const auto found = run.metrics.find(name);
    return found != run.metrics.end() && found->second.second == unit ? std::optional(found->second.first)
                                                                      : std::nullopt;
  }
};

/// Those of all runs, the headlines first.
std::vector<MetricInUnit> metrics_of(const Comparison& comparison) {
  std::vector<std::string> names, headlines;
  std::map<std::string, std::vector<std::string>> units;
  for (const ComparedRun& run : comparison.runs) {
    if (std::ranges::find(headlines, run.headline) == headlines.end()) {
      headlines.push_back(run.headline);
    }
    for (const auto& [name, metric] : run.metrics) {
      if (std::ranges::find(names, name) == names.end()) {
        names.push_back(name);
      }
      if (std::ranges::find(units[name], metric.second) == units[name].end()) {
        units[name].push_back(metric.second);
      }
    }
  }
  std::vector<MetricInUnit> all;
  for (const std::string& name : shown_metrics(names, headlines, names.size())) {
    for (const std::string& unit : units[name]) {
      all.push_back({name, unit});
    }
  }
  return all;
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

/// {mean, spread, least, most, runs}; null where no run has a number.
Json to_json(const OverSeeds& all) {
  if (all.values.empty()) {
    return {};
  }
  const auto [least, most] = std::ranges::minmax(all.values);
  return Json::object()
      .set("mean", all.mean())
      .set("spread", or_null(all.spread()))
      .set("least", least)
      .set("most", most)
      .set("runs", std::ssize(all.values));
}

Json row_json(const Comparison& comparison, const SeedGroup& row) {
  const ComparedRun& first = comparison.runs[row.runs.front()];
  Json runs = Json::array(), seeds = Json::array(), metrics = Json::object();
  for (const size_t i : row.runs) {
    runs.add(comparison.runs[i].name);
    seeds.add(comparison.runs[i].seed);
  }
  for (const MetricInUnit& metric : metrics_of(comparison)) {
    const OverSeeds all = over_seeds(comparison, row, [&](const ComparedRun& run) { return metric.of(run); });
    if (!all.values.empty()) {
      metrics.set(metric.name, to_json(all).set("unit", metric.unit));
    }
  }
  return Json::object()
      .set("name", row.name)
      .set("runs", runs)
      .set("seeds", seeds)
      .set("system", first.system)
      .set("parameters_real", first.parameters_real)
      .set("seconds", to_json(over_seeds(comparison, row, [](const auto& run) { return run.seconds; })))
      .set("flops", to_json(over_seeds(comparison, row, [](const auto& run) { return run.flops; })))
      .set("nominal_flops",
           to_json(over_seeds(comparison, row, [](const auto& run) { return run.nominal_flops; })))
      .set("metrics", metrics);
}

Json comparison_json(const Comparison& comparison) {
  Json runs = Json::array();
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
  Json rows = Json::array();
  for (const SeedGroup& row : comparison.rows) {
    rows.add(row_json(comparison, row));
  }
  Json notes = Json::array();
  for (const std::string& note : comparison.notes) {
    notes.add(note);
  }
  return Json::object()
      .set("runs", runs)
      .set("rows", rows)
      .set("split", comparison.split)
      .set("same_test_data", comparison.same_test_data)
      .set("notes", notes);
}

std::string table_number(double value, const char* format) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// The mean, and the spread where there are several runs.
std::string cell_of(const OverSeeds& all, const char* format) {
  if (all.values.empty()) {
    return "-";
  }
  const std::string mean = table_number(all.mean(), format);
  const std::optional<double> spread = all.spread();
  return spread ? with_spread(mean, table_number(*spread, "%.2g")) : mean;
}

constexpr size_t metrics_on_terminal = 4;

}  // namespace

Table comparison_table(const Comparison& comparison, size_t most) {
  std::vector<MetricInUnit> metrics =
      comparison.same_test_data ? metrics_of(comparison) : std::vector<MetricInUnit>{};
  const size_t left = metrics.size() - std::min(metrics.size(), most);
  metrics.resize(metrics.size() - left);
  Table table{"Comparison of " + std::to_string(comparison.runs.size()) + " runs", "", {}};
  if (std::ranges::any_of(comparison.rows, [](const SeedGroup& row) { return row.runs.size() > 1; })) {
    table.words = "Runs that differ by their seed alone are one row: mean ± standard deviation of a run.";
  }
  if (left > 0) {
    table.words += text(table.words.empty() ? "" : " ", left, " more metrics: --out, --json.");
  }
  table.rows.push_back(
      {"run", "seeds", "system", "parameters (real)", "seconds", "FLOPs", "FLOPs (nominal)"});
  for (const MetricInUnit& metric : metrics) {
    table.rows[0].push_back(comparison.split + " " + metric.label());
  }
  for (const SeedGroup& row : comparison.rows) {
    const auto cell = [&](const auto& of, const char* format) {
      return cell_of(over_seeds(comparison, row, of), format);
    };
    const ComparedRun& first = comparison.runs[row.runs.front()];
    table.rows.push_back({row.name, std::to_string(row.runs.size()), first.system,
                          std::to_string(first.parameters_real),
                          cell([](const auto& run) { return run.seconds; }, "%.4g"),
                          cell([](const auto& run) { return run.flops; }, "%.3g"),
                          cell([](const auto& run) { return run.nominal_flops; }, "%.3g")});
    for (const MetricInUnit& metric : metrics) {
      table.rows.back().push_back(cell([&](const ComparedRun& run) { return metric.of(run); }, "%.5g"));
    }
  }
  return table;
}

namespace {

/// The page, its tables and the learning curves. Returns the files.
std::vector<std::string> write_comparison(const Comparison& comparison, const std::string& folder) {
  make_folder(folder);
  const std::string curves = folder + "/learning_curves", name = folder + "/compare";
  const Panels panels = learning_curves(comparison);
  std::vector<std::string> files = table_files(name);
  files.push_back(name + ".html");
  std::string picture;
  try {
    draw(panels, curves);
    picture = html_picture(contents_of(curves + ".svg"), panels.title);
    files.insert(files.begin(), {curves + ".png", curves + ".svg"});
  } catch (const Error& error) {  // page and tables need no gnuplot
    warn(text("no learning curves are drawn: ", error.what()));
  }
  Table runs{"The runs", "", {{"run", "folder", "seed", "system"}}};
  std::string call = "weyl compare";
  for (const ComparedRun& run : comparison.runs) {
    runs.rows.push_back({run.name, run.path, std::to_string(run.seed), run.system});
    call += " " + shell_word(run.path);
  }
  const std::vector<Table> tables{comparison_table(comparison, SIZE_MAX), std::move(runs)};
  std::string body;
  for (const std::string& note : comparison.notes) {
    body += "<p>" + html_text(note) + "</p>\n";
  }
  body += html_of({tables[0]}) + picture + html_of({tables[1]}) +
          html_lines(call + " --out " + shell_word(folder));
  write_file_atomically(name + ".html", html_page(tables[0].title, body), Existing::replace_link);
  write_tables({tables[0]}, name, Existing::replace_link);
  return files;
}

}  // namespace

int run(const CompareCommand& command) {
  const Comparison comparison = compared(command.runs);
  Json json = comparison_json(comparison);
  for (const std::string& note : comparison.notes) {
    warn(note);
  }
  std::vector<std::string> files;
  if (!comparison.same_test_data) {
    warn("the runs' " + comparison.split + " data are not the same, so their metrics are not compared");
  } else if (!command.out.empty()) {
    files = write_comparison(comparison, command.out);
    Json list = Json::array();
    for (const std::string& file : files) {
      list.add(file);
    }
    json.set("files", list);
  }
  if (command.output.json) {
    std::cout << json.dump() << "\n";
  } else {
    const Table table = comparison_table(comparison, metrics_on_terminal);
    std::vector<std::vector<std::string>> rows = table.rows;
    for (std::vector<std::string>& row : rows) {
      row.front() = visible(row.front());
    }
    std::cout << aligned(rows) << (table.words.empty() ? "" : table.words + "\n");
    for (const std::string& file : files) {
      std::cout << file << "\n";
    }
  }
  return comparison.same_test_data ? exit_done : exit_failed;
}

}  // namespace weyl
