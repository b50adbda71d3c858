#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "weyl/app/compared_runs.h"
#include "weyl/app/exit_codes.h"
#include "weyl/app/log.h"
#include "weyl/app/progress.h"
#include "weyl/app/text_table.h"
#include "weyl/app/verbs.h"
#include "weyl/core/check.h"
#include "weyl/core/json.h"

namespace weyl {
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
    std::error_code error;
    std::filesystem::create_directories(command.out, error);
    require<DataError>(!error, command.out, ": must be a folder that can be written, but ", error.message());
    const std::string picture = command.out + "/learning_curves";
    draw(learning_curves(comparison), picture);
    json.set("files", Json::array().add(picture + ".png").add(picture + ".svg"));
  }
  if (command.talk.json) {
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
