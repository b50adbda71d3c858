#include "weyl/study/scaling/isoflops.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace weyl {
namespace {

constexpr double widest_gap = 1.25;   // between the flops of neighbours in one group
constexpr size_t fewest_sizes = 3;    // of an isoflop with a parabola
constexpr double widest_group = 1.5;  // between its largest and smallest

/// The mean of logarithms as they come.
struct GeometricMean {
  double sum = 0;
  int64_t count = 0;
  void add(double x) {
    sum += std::log(x);
    ++count;
  }
  double value() const { return std::exp(sum / static_cast<double>(count)); }
};

double flops_of_group(std::span<const ScalingRun> runs, const BudgetGroup& group, std::optional<double> xi) {
  GeometricMean mean;
  for (const size_t i : group.runs) {
    mean.add(flops_of(runs[i], xi));
  }
  return mean.value();
}

// Where a size has runs on fresh data, those on repeated data are not averaged with them.
std::vector<IsoflopPoint> points_of(std::span<const ScalingRun> runs, const BudgetGroup& group,
                                    std::optional<double> xi, int64_t& repeated_aside) {
  struct Means {
    GeometricMean tokens, loss, flops;
  };
  std::set<double> fresh;
  for (const size_t i : group.runs) {
    if (!saw_more_than(runs[i], 1)) {
      fresh.insert(runs[i].parameters);
    }
  }
  std::map<double, Means> sizes;
  for (const size_t i : group.runs) {
    if (saw_more_than(runs[i], 1) && fresh.contains(runs[i].parameters)) {
      ++repeated_aside;
      continue;
    }
    Means& means = sizes[runs[i].parameters];
    means.tokens.add(runs[i].tokens);
    means.loss.add(runs[i].loss);
    means.flops.add(flops_of(runs[i], xi));
  }
  std::vector<IsoflopPoint> points;
  for (const auto& [parameters, means] : sizes) {
    points.push_back(
        {parameters, means.tokens.value(), means.loss.value(), means.loss.count, means.flops.value()});
  }
  return points;
}

// Least squares of y = p0 + p1 z + p2 z^2 by the normal equations; z is centred and of order one.
std::array<double, 3> parabola_through(const std::vector<double>& z, const std::vector<double>& y) {
  std::array<std::array<double, 4>, 3> rows{};
  for (size_t i = 0; i < z.size(); ++i) {
    const std::array<double, 3> powers{1, z[i], z[i] * z[i]};
    for (size_t r = 0; r < 3; ++r) {
      for (size_t c = 0; c < 3; ++c) {
        rows[r][c] += powers[r] * powers[c];
      }
      rows[r][3] += powers[r] * y[i];
    }
  }
  for (size_t k = 0; k < 3; ++k) {  // Gauss-Jordan with pivots
    const auto pivot =
        std::max_element(rows.begin() + static_cast<std::ptrdiff_t>(k), rows.end(),
                         [k](const auto& a, const auto& b) { return std::abs(a[k]) < std::abs(b[k]); });
    std::swap(rows[k], *pivot);
    for (size_t r = 0; r < 3; ++r) {
      if (r != k) {
        const double factor = rows[r][k] / rows[k][k];
        for (size_t c = k; c < 4; ++c) {
          rows[r][c] -= factor * rows[k][c];
        }
      }
    }
  }
  return {rows[0][3] / rows[0][0], rows[1][3] / rows[1][1], rows[2][3] / rows[2][2]};
}

// log tokens between two sizes, as log N lies between theirs.
double tokens_at(const std::vector<IsoflopPoint>& points, double parameters) {
  const auto above = std::find_if(points.begin() + 1, points.end() - 1,
                                  [&](const IsoflopPoint& p) { return p.parameters >= parameters; });
  const IsoflopPoint &high = *above, &low = *(above - 1);
  const double part = std::log(parameters / low.parameters) / std::log(high.parameters / low.parameters);
  return low.tokens * std::pow(high.tokens / low.tokens, part);
}

void find_minimum(Isoflop& isoflop) {
  const auto& points = isoflop.points;
  if (points.size() < fewest_sizes) {
    return;
  }
  const double centre = (std::log(points.front().parameters) + std::log(points.back().parameters)) / 2;
  const double width = (std::log(points.back().parameters) - std::log(points.front().parameters)) / 2;
  std::vector<double> z, y;
  for (const IsoflopPoint& point : points) {
    for (int64_t run = 0; run < point.runs; ++run) {  // each run counts
      z.push_back((std::log(point.parameters) - centre) / width);
      y.push_back(std::log(point.loss));
    }
  }
  const auto [p0, p1, p2] = parabola_through(z, y);
  isoflop.parabola = {p0 - p1 * centre / width + p2 * centre * centre / (width * width),
                      p1 / width - 2 * p2 * centre / (width * width), p2 / (width * width)};
  const auto lowest = std::ranges::min_element(points, {}, &IsoflopPoint::loss);
  const double vertex = -p1 / (2 * p2);
  const bool at_end = lowest == points.begin() || lowest == points.end() - 1;
  if (at_end) {
    isoflop.kind = lowest == points.begin() ? MinimumKind::smallest : MinimumKind::largest;
    isoflop.minimum = *lowest;
  } else if (p2 > 0 && std::abs(vertex) < 1) {
    const double parameters = std::exp(centre + width * vertex);
    isoflop.kind = MinimumKind::inside;
    isoflop.minimum = {parameters, tokens_at(points, parameters), std::exp(p0 + p1 * vertex / 2), 0};
  } else {
    isoflop.kind = MinimumKind::not_clear;
  }
}

}  // namespace

const char* name_of(MinimumKind kind) {
  switch (kind) {
    case MinimumKind::inside:
      return "inside";
    case MinimumKind::smallest:
      return "smallest";
    case MinimumKind::largest:
      return "largest";
    case MinimumKind::not_clear:
      return "not_clear";
    case MinimumKind::few_sizes:
      break;
  }
  return "few_sizes";
}

double flops_of(const ScalingRun& run, std::optional<double> xi) {
  return run.flops ? *run.flops
                   : (xi ? *xi * run.parameters * run.tokens : std::numeric_limits<double>::quiet_NaN());
}

std::vector<BudgetGroup> budget_groups(std::span<const ScalingRun> runs, std::optional<double> xi) {
  std::map<double, BudgetGroup> by_budget;
  std::vector<std::pair<double, size_t>> by_flops;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].budget) {
      by_budget[*runs[i].budget].runs.push_back(i);
    } else if (const double flops = flops_of(runs[i], xi); std::isfinite(flops)) {
      by_flops.emplace_back(flops, i);
    }
  }
  std::vector<BudgetGroup> groups;
  for (auto& [budget, group] : by_budget) {
    group.budget = budget;
    group.flops = flops_of_group(runs, group, xi);
    groups.push_back(std::move(group));
  }
  std::ranges::sort(by_flops);
  double first = 0;
  for (size_t i = 0; i < by_flops.size(); ++i) {
    const double flops = by_flops[i].first;
    const bool gap = i == 0 || flops > widest_gap * by_flops[i - 1].first;
    if (gap || flops > widest_group * first) {
      if (!gap) {
        groups.back().cut = true;
      }
      groups.push_back({.runs = {}, .by_flops = true, .cut = !gap});
      first = flops;
    }
    groups.back().runs.push_back(by_flops[i].second);
    groups.back().budget = groups.back().flops = flops_of_group(runs, groups.back(), xi);
  }
  std::ranges::stable_sort(groups, {}, &BudgetGroup::budget);
  return groups;
}

GridOfBudgets grid_of(std::span<const ScalingRun> runs, const std::vector<BudgetGroup>& groups) {
  GridOfBudgets grid;
  for (const BudgetGroup& group : groups) {
    if (group.by_flops) {
      std::set<double> sizes;
      for (const size_t i : group.runs) {
        sizes.insert(runs[i].parameters);
      }
      grid.runs += std::ssize(group.runs);
      grid.inside += !group.cut && sizes.size() >= fewest_sizes ? std::ssize(group.runs) : 0;
    }
  }
  return grid;
}

std::vector<Isoflop> isoflops_of(std::span<const ScalingRun> runs, std::optional<double> xi) {
  std::vector<Isoflop> isoflops;
  for (const BudgetGroup& group : budget_groups(runs, xi)) {
    if (group.cut) {
      continue;
    }
    Isoflop isoflop;
    isoflop.budget = group.budget;
    isoflop.flops = group.flops;
    isoflop.points = points_of(runs, group, xi, isoflop.repeated_aside);
    find_minimum(isoflop);
    isoflops.push_back(std::move(isoflop));
  }
  return isoflops;
}

std::optional<IsoflopLaw> law_of_minima(std::span<const Isoflop> isoflops) {
  std::vector<double> x, y;
  for (const Isoflop& isoflop : isoflops) {
    if (isoflop.kind == MinimumKind::inside && std::isfinite(isoflop.flops)) {
      x.push_back(std::log(isoflop.flops));
      y.push_back(std::log(isoflop.minimum->parameters));
    }
  }
  const auto count = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / count;
    mean_y += y[i] / count;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (x.size() < 3 || !(xx > 0)) {
    return std::nullopt;
  }
  return IsoflopLaw{xy / xx, 1 - xy / xx, static_cast<int64_t>(x.size())};
}

}  // namespace weyl
