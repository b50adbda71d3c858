#include "weyl/app/terminal/metrics_text.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <string_view>

#include "weyl/app/terminal/log.h"
#include "weyl/app/terminal/shown_metrics.h"
#include "weyl/app/terminal/text_table.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

std::string cell(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  char number[32] = "-";
  if (found != metrics.end()) {
    std::snprintf(number, sizeof number, "%.5g", found->second.value);
  }
  return number;
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return name + (unit.empty() ? "" : " (" + unit + ")");
}

}  // namespace

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

std::string epoch_metrics_text(const Metrics& metrics, const std::vector<std::string>& headlines,
                               int64_t width) {
  std::vector<std::string> names;
  for (const auto& [name, metric] : metrics) {
    names.push_back(name);
  }
  std::string line;
  for (const std::string& name : shown_metrics(names, headlines)) {
    const std::string more = (line.empty() ? "" : "  ") + metrics_text({{name, metrics.at(name)}});
    if (!line.empty() && static_cast<int64_t>(characters(line + more)) > width) {
      break;
    }
    line += more;
  }
  return line;
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

std::string metrics_lines(const Metrics& model, const std::vector<std::pair<std::string, Metrics>>& beside) {
  std::vector<std::vector<std::string>> rows;
  if (!beside.empty()) {
    rows.push_back({"", "model"});
    for (const auto& [other, metrics] : beside) {
      rows[0].push_back(other);
    }
  }
  for (const auto& [name, metric] : model) {
    std::vector<std::string> row{with_unit(name, metric.unit), cell(model, name)};
    for (const auto& [other, metrics] : beside) {
      row.push_back(cell(metrics, name));
    }
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

std::string table_text(const Breakdown& breakdown) {
  std::vector<std::vector<std::string>> cells{{breakdown.by}};
  std::vector<std::string> names;
  for (const auto& [name, metrics] : breakdown.rows) {
    for (const auto& [metric, value] : metrics) {
      if (std::find(names.begin(), names.end(), metric) == names.end()) {
        names.push_back(metric);
        cells[0].push_back(with_unit(metric, value.unit));
      }
    }
  }
  for (const auto& [name, metrics] : breakdown.rows) {
    std::vector<std::string> row{name};
    for (const std::string& metric : names) {
      row.push_back(cell(metrics, metric));
    }
    cells.push_back(std::move(row));
  }
  return aligned(cells);
}

void say_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) {
    say("note: " + note);
  }
}

namespace {

constexpr std::string_view later = "_step_";
constexpr int64_t most_rows = 12;

/// Of each metric that has later steps, the last.
std::map<std::string, int64_t> last_steps(const Metrics& metrics) {
  std::map<std::string, int64_t> last;
  for (const auto& [name, metric] : metrics) {
    if (const size_t at = name.find(later); at != std::string::npos) {
      int64_t number = 0;
      std::from_chars(name.data() + at + later.size(), name.data() + name.size(), number);
      int64_t& step = last[name.substr(0, at)];
      step = std::max(step, number);
    }
  }
  return last;
}

}  // namespace

Metrics of_first_step(const Metrics& metrics) {
  Metrics first;
  for (const auto& [name, metric] : metrics) {
    if (name.find(later) == std::string::npos) {
      first[name] = metric;
    }
  }
  return first;
}

std::string rollout_text(const Metrics& model, const std::vector<std::pair<std::string, Metrics>>& beside) {
  std::string tables;
  for (const auto& [name, last] : last_steps(model)) {
    const auto first = model.find(name);
    const std::string unit = first == model.end() ? "" : first->second.unit;
    std::vector<std::vector<std::string>> rows{{"step", "model"}};
    for (const auto& [other, metrics] : beside) {
      rows[0].push_back(other);
    }
    const int64_t shown = std::min(last, most_rows);
    for (int64_t r = 0; r < shown; ++r) {
      const int64_t step = 1 + (shown == 1 ? 0 : (r * (last - 1) + (shown - 1) / 2) / (shown - 1));
      const std::string at = step == 1 ? name : text(name, later, step);
      std::vector<std::string> row{std::to_string(step), cell(model, at)};
      for (const auto& [other, metrics] : beside) {
        row.push_back(cell(metrics, at));
      }
      rows.push_back(std::move(row));
    }
    const std::string some = shown < last ? text(", ", shown, " of ", last, " (--json: all)") : "";
    tables += text("\n", with_unit(name, unit), " at each step", some, "\n", aligned(rows));
  }
  return tables;
}

}  // namespace weyl
