#include "weyl/app/metrics_text.h"

#include <algorithm>
#include <cstdio>

#include "weyl/app/log.h"

namespace weyl {

Json to_json(const Metrics& metrics) {
  Json json = Json::object();
  for (const auto& [name, metric] : metrics) {
    json.set(name, Json::object().set("value", metric.value).set("unit", metric.unit));
  }
  return json;
}

Json to_json(const Confusion& confusion) {
  Json classes = Json::array(), counts = Json::array();
  const size_t k = confusion.classes.size();
  for (size_t truth = 0; truth < k; ++truth) {
    classes.add(confusion.classes[truth]);
    Json row = Json::array();
    for (size_t said = 0; said < k; ++said) {
      row.add(confusion.counts[truth * k + said]);
    }
    counts.add(row);
  }
  return Json::object().set("classes", classes).set("counts", counts);
}

Json to_json(const std::vector<Breakdown>& breakdowns) {
  Json json = Json::object();
  for (const Breakdown& breakdown : breakdowns) {
    Json rows = Json::array();
    for (const auto& [name, metrics] : breakdown.rows) {
      rows.add(Json::object().set("name", name).set("metrics", to_json(metrics)));
    }
    json.set(breakdown.by, rows);
  }
  return json;
}

Json to_json(const Evaluation& evaluation) {
  Json json = Json::object();
  json.set("samples", evaluation.samples)
      .set("seconds", evaluation.seconds)
      .set("metrics", to_json(evaluation.metrics));
  if (evaluation.confusion) {
    json.set("confusion", to_json(*evaluation.confusion));
  }
  if (!evaluation.breakdowns.empty()) {
    json.set("breakdowns", to_json(evaluation.breakdowns));
  }
  return json;
}

namespace {

// Characters of UTF-8 text: the bytes that begin one.
size_t characters(const std::string& words) {
  return static_cast<size_t>(
      std::count_if(words.begin(), words.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

Metrics chief(const Metrics& metrics) {
  if (metrics.size() <= 8) {
    return metrics;
  }
  Metrics result;
  for (const auto& entry : metrics) {
    const auto within = [&](const auto& other) { return entry.first.starts_with(other.first + "_"); };
    if (std::none_of(metrics.begin(), metrics.end(), within)) {
      result.insert(entry);
    }
  }
  return result;
}

std::string metrics_text(const Metrics& metrics) {
  std::string line;
  for (const auto& [name, metric] : metrics) {
    char number[32];
    std::snprintf(number, sizeof number, "%.5g", metric.value);
    line += (line.empty() ? "" : "  ") + name + " " + number + (metric.unit.empty() ? "" : " " + metric.unit);
  }
  return line;
}

std::string table_text(const Breakdown& breakdown) {
  std::vector<std::vector<std::string>> cells{{breakdown.by}};
  std::vector<std::string> names;
  for (const auto& [name, metrics] : breakdown.rows) {
    for (const auto& [metric, value] : metrics) {
      if (std::find(names.begin(), names.end(), metric) == names.end()) {
        names.push_back(metric);
        cells[0].push_back(metric + (value.unit.empty() ? "" : " (" + value.unit + ")"));
      }
    }
  }
  for (const auto& [name, metrics] : breakdown.rows) {
    std::vector<std::string> row{name};
    for (const std::string& metric : names) {
      const auto found = metrics.find(metric);
      char number[32] = "-";
      if (found != metrics.end()) {
        std::snprintf(number, sizeof number, "%.5g", found->second.value);
      }
      row.emplace_back(number);
    }
    cells.push_back(std::move(row));
  }
  std::string result;
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) {
      size_t width = 0;
      for (const auto& other : cells) {
        width = std::max(width, characters(other[c]));
      }
      const std::string space(width - characters(row[c]), ' ');
      result += (c > 0 ? "  " : "") + (c == 0 ? row[c] + space : space + row[c]);
    }
    result += "\n";
  }
  return result;
}

void say_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    say("note: " + note);
  }
}

}  // namespace weyl
