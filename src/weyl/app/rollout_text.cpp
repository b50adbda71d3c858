#include "weyl/app/rollout_text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "weyl/app/text_table.h"
#include "weyl/core/check.h"

namespace weyl {
namespace {

constexpr std::string_view later = "_step_";
constexpr int64_t most_rows = 12;

/// Of each metric that has later steps, the last.
std::map<std::string, int64_t> last_steps(const Metrics& metrics) {
  std::map<std::string, int64_t> last;
  for (const auto& [name, metric] : metrics) {
    if (const size_t at = name.find(later); at != std::string::npos) {
      int64_t& step = last[name.substr(0, at)];
      step = std::max<int64_t>(step, std::atoll(name.c_str() + at + later.size()));
    }
  }
  return last;
}

std::string cell(const Metrics& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  char number[32] = "-";
  if (found != metrics.end()) {
    std::snprintf(number, sizeof number, "%.5g", found->second.value);
  }
  return number;
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
    tables += "\n" + name + (unit.empty() ? "" : " (" + unit + ")") + " at each step" +
              (shown < last ? text(", ", shown, " of ", last, " (--json: all)") : "") + "\n" + aligned(rows);
  }
  return tables;
}

}  // namespace weyl
