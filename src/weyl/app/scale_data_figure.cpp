#include <algorithm>
#include <cmath>
#include <map>

#include "weyl/app/scale_figures.h"

namespace weyl {
namespace {

constexpr std::string_view augmented = "-augmented";
constexpr double repeated = 1.5;  // passes over the data, from which they count as seen more than once

/// Losses of one system by unique tokens, then by size.
using BySize = std::map<double, std::vector<double>>;
using ByTokens = std::map<double, BySize>;

double mean_of(const std::vector<double>& losses) {
  double logs = 0;
  for (const double loss : losses) {
    logs += std::log(loss);
  }
  return std::exp(logs / static_cast<double>(losses.size()));
}

DataLoss best_of(double unique_tokens, const BySize& sizes) {
  DataLoss best;
  for (const auto& [parameters, losses] : sizes) {
    if (const double mean = mean_of(losses); best.each.empty() || mean < best.mean) {
      best = {unique_tokens, parameters, mean, losses};
    }
  }
  return best;
}

/// "transformer-augmented" beside "transformer": its colour, hollow points of its shape, and a dash that no other has of the first five.
Look look_of(const std::vector<std::string>& names, size_t index) {
  const std::string& name = names[index];
  if (name.ends_with(augmented)) {
    const auto plain = std::ranges::find(names, name.substr(0, name.size() - augmented.size()));
    if (plain != names.end()) {
      Look look = look_of_system(static_cast<size_t>(plain - names.begin()));
      look.dash = look_of_system(index).dash;
      --look.shape;
      return look;
    }
  }
  return look_of_system(index);
}

}  // namespace

std::vector<std::pair<std::string, std::vector<DataLoss>>> data_scaling(const std::vector<ScalingRun>& runs) {
  std::vector<std::string> names;
  std::map<std::string, ByTokens> systems;
  std::map<std::string, bool> repeats;
  for (const ScalingRun& run : runs) {
    if (run.unique_tokens) {
      if (std::ranges::find(names, run.system) == names.end()) {
        names.push_back(run.system);
      }
      systems[run.system][*run.unique_tokens][run.parameters].push_back(run.loss);
      repeats[run.system] = repeats[run.system] || run.tokens >= repeated * *run.unique_tokens;
    }
  }
  std::vector<std::pair<std::string, std::vector<DataLoss>>> all;
  for (const std::string& name : names) {
    if (repeats[name] && systems[name].size() > 1) {
      std::vector<DataLoss> losses;
      for (const auto& [tokens, sizes] : systems[name]) {
        losses.push_back(best_of(tokens, sizes));
      }
      all.emplace_back(name, std::move(losses));
    }
  }
  return all;
}

ScaleFigure data_scaling_figure(const std::vector<ScalingRun>& runs) {
  const auto systems = data_scaling(runs);
  ScaleFigure figure{"data_scaling", "Loss over the amount of training data", {}};
  if (systems.empty()) {
    return figure;
  }
  std::vector<std::string> names;
  for (const auto& [name, losses] : systems) {
    names.push_back(name);
  }
  Chart chart{"lines: geometric means over seeds; points: runs",
              "different training tokens",
              "test loss / unit of the runs",
              {},
              {}};
  for (size_t i = 0; i < names.size(); ++i) {
    const Look look = look_of(names, i);
    Mark line{Mark::Kind::line, look, 1, {}, {}, {}, {}},
        points{Mark::Kind::points, look, 0.9, {}, {}, {}, {}};
    for (const DataLoss& at : systems[i].second) {
      line.x.push_back(at.unique_tokens);
      line.y.push_back(at.mean);
      for (const double loss : at.each) {
        points.x.push_back(at.unique_tokens);
        points.y.push_back(loss);
      }
    }
    chart.marks.push_back(std::move(line));
    chart.marks.push_back(std::move(points));
    chart.key.push_back({names[i], look});
  }
  figure.charts.push_back(std::move(chart));
  return figure;
}

}  // namespace weyl
