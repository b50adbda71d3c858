#include "weyl/app/verbs/cases.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "weyl/app/draw/picture_data.h"
#include "weyl/app/draw/pictures.h"
#include "weyl/core/check.h"
#include "weyl/core/quote.h"
#include "weyl/core/temporary_folder.h"
#include "weyl/data/base/sample_checks.h"
#include "weyl/train/run/journal.h"

namespace weyl {

std::vector<Case> cases_of(const Dataset& data, const Evaluation& evaluation, const std::string& run) {
  std::vector<Case> cases;
  for (size_t i = 0; i < evaluation.by_sample.size(); ++i) {
    const std::string name = case_name(data, static_cast<int64_t>(i));
    cases.push_back({name.empty() ? std::to_string(i) : visible(name), run, evaluation.by_sample[i]});
  }
  return cases;
}

namespace {

constexpr std::string_view distance = "hd95", infinite = "hd95_infinite";

/// A metric of a case as a cell. Infinite distances are left out of means and counted by themselves; of a case the mean of several
/// parts with one of them is infinite, too.
std::string metric_cell(const Metrics& metrics, const std::string& name) {
  if (name.starts_with(distance) && !name.starts_with(infinite)) {
    const auto count = metrics.find(std::string(infinite) + name.substr(distance.size()));
    if (count != metrics.end() && count->second.value > 0) {
      return "inf";
    }
  }
  const auto found = metrics.find(name);
  return found != metrics.end() ? exact_text(found->second.value) : "";
}

}  // namespace

std::string cases_csv(const std::vector<Case>& cases) {
  std::map<std::string, std::string> units;  // by metric
  for (const Case& c : cases) {
    for (const auto& [name, metric] : c.metrics) {
      units[name] = metric.unit;
      if (name.starts_with(infinite) && metric.value > 0) {  // of which no case may have a finite one
        units.try_emplace(std::string(distance) + name.substr(infinite.size()));
      }
    }
  }
  const bool runs = std::ranges::any_of(cases, [](const Case& c) { return !c.run.empty(); });
  std::string csv = runs ? "case,run" : "case";
  for (const auto& [name, unit] : units) {
    csv += "," + csv_cell(unit.empty() ? name : text(name, " / ", unit));
  }
  for (const Case& c : cases) {
    csv += "\n" + csv_cell(c.name) + (runs ? "," + csv_cell(c.run) : "");
    for (const auto& [name, unit] : units) {
      csv += "," + metric_cell(c.metrics, name);
    }
  }
  return csv + "\n";
}

std::vector<Ranked> ranked(const std::vector<Case>& cases, const std::string& metric, bool lower_is_better) {
  std::vector<std::pair<double, int64_t>> order;
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto found = cases[i].metrics.find(metric);
    if (found != cases[i].metrics.end() && !std::isnan(found->second.value)) {
      order.emplace_back(lower_is_better ? -found->second.value : found->second.value,
                         static_cast<int64_t>(i));
    }
  }
  std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
  std::vector<Ranked> result;
  if (order.size() > 1) {
    result.push_back({"worst", order.front().second});
  }
  if (order.size() > 2) {
    result.push_back({"median", order[(order.size() - 1) / 2].second});
  }
  if (!order.empty()) {
    result.push_back({"best", order.back().second});
  }
  return result;
}

std::vector<std::string> draw_ranked(const Predictor& predictor, const Dataset& data,
                                     const std::vector<Case>& cases, const std::string& name,
                                     const std::string& folder) {
  std::vector<std::string> files;
  const Task& task = *predictor.task();
  const TemporaryFolder temporary("cases");
  for (const auto& [rank, sample] : ranked(cases, task.headline(), task.lower_is_better())) {
    const std::string path = temporary / (rank + ".safetensors"), picture = folder + "/" + rank;
    if (!write_overlay(predictor, data, sample, path, rank + ": ")) {
      return {};
    }
    draw_overlay(path, name, picture);
    files.push_back(picture + ".png");
  }
  return files;
}

}  // namespace weyl
