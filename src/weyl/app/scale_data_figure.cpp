#include <algorithm>
#include <cmath>
#include <map>

#include "weyl/app/scale_figures.h"

namespace weyl {
namespace {

constexpr std::string_view augmented = "-augmented";
constexpr double repeated = 1.5;  // passes over the data, from which they count as seen more than once

struct Losses {
  double sum_of_logs = 0, count = 0;
  std::vector<double> each;

  double mean() const { return std::exp(sum_of_logs / count); }
};

/// Losses of one system by unique tokens, then by size.
using BySize = std::map<double, Losses>;
using ByTokens = std::map<double, BySize>;

const Losses& best_of(const BySize& sizes) {
  return std::ranges::min_element(sizes, {}, [](const auto& size) { return size.second.mean(); })->second;
}

/// "transformer-augmented" beside "transformer": its colour, hollow points and another dash.
Look look_of(const std::vector<std::string>& names, size_t index) {
  const std::string& name = names[index];
  if (name.ends_with(augmented)) {
    const auto plain = std::ranges::find(names, name.substr(0, name.size() - augmented.size()));
    if (plain != names.end()) {
      Look look = look_of_system(static_cast<size_t>(plain - names.begin()));
      look.dash = look.dash % 5 + 1;
      --look.shape;
      return look;
    }
  }
  return look_of_system(index);
}

}  // namespace

ScaleFigure data_scaling_figure(const std::vector<ScalingRun>& runs) {
  std::vector<std::string> names;
  std::map<std::string, ByTokens> systems;
  std::map<std::string, bool> repeats;
  for (const ScalingRun& run : runs) {
    if (run.unique_tokens) {
      if (std::ranges::find(names, run.system) == names.end()) {
        names.push_back(run.system);
      }
      Losses& losses = systems[run.system][*run.unique_tokens][run.parameters];
      losses.sum_of_logs += std::log(run.loss);
      ++losses.count;
      losses.each.push_back(run.loss);
      repeats[run.system] = repeats[run.system] || run.tokens >= repeated * *run.unique_tokens;
    }
  }
  std::erase_if(names, [&](const std::string& name) { return !repeats[name] || systems[name].size() < 2; });
  ScaleFigure figure{"data_scaling", "Loss over the amount of training data", {}};
  if (names.empty()) {
    return figure;
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
    for (const auto& [tokens, sizes] : systems[names[i]]) {
      const Losses& losses = best_of(sizes);
      line.x.push_back(tokens);
      line.y.push_back(losses.mean());
      for (const double loss : losses.each) {
        points.x.push_back(tokens);
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
